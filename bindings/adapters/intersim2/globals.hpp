#pragma once
/// The interface that GPGPU-Sim's icnt_wrapper.cc creates and calls.

class InterconnectInterface;
extern InterconnectInterface* g_icnt_interface;
