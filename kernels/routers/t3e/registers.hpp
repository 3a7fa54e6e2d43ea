#pragma once
/// Registers of a node by number, for the host and for special packets. Bit formats are the manual's (HMM-146-0) where
/// it gives them. The bit positions in R_NET_LUT, R_LUT_OVERRIDE and R_SGET_RTRN are flitlab's, because the manual's
/// tables of them are lost.
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

enum RegisterNumber : u32 {
  kOrient,
  kPwho,
  kLwho,
  kWhoami,
  kChan,
  kOverride = kChan + 8,
  kVcsel,
  kSgetReturn = kVcsel + kDirections,
  kScratch,
  kLut,
  kRegisterCount = kLut + kLutRegisters
};

inline constexpr u32 kTagBits = (1u << 19) - 1;
inline constexpr u32 kDeltas = 6;

/// Returns the mask of the bits that a register has.
FLITLAB_HD constexpr u64 register_bits(u32 number) {
  if (number >= kLut) return kTagBits;
  if (number == kScratch) return ~u64{0};
  if (number == kSgetReturn) return (u64{1} << 8 * kDeltas) - 1;
  if (number >= kVcsel) return 0xFF | u64{1} << 32;
  if (number == kOverride) return kTagBits | u64{3} << 32;
  if (number >= kChan) return number - kChan < kDirections ? 15 : 3;
  return number == kPwho ? 0xF1F07 : number == kOrient ? 7 : 0xFFF;
}

/// Returns the value of register `number`. `lut`: the R_NET_LUT register if `number` names one; `wired`: the node's
/// entry of Table::wired.
FLITLAB_HD inline u64 read_register(const Registers& r, const SoftwareRegisters& software, Tag lut, u32 wired,
                                    u32 number) {
  if (number >= kLut) return lut;
  if (number == kScratch) return software.scratch;
  if (number == kSgetReturn) return software.sget_return;
  if (number >= kVcsel) {
    const u32 select = r.vcsel[number - kVcsel];
    return (select & 0xFF) | (select & kDateline ? u64{1} << 32 : 0);
  }
  if (number == kOverride) return r.override_tag | u64{r.lut_mode} << 32;
  if (number >= kChan) return r.chan[number - kChan];
  return number == kPwho ? r.pwho : number == kOrient ? r.turned ^ wired : r.lwho;
}

/// Writes register `number`. Bits that the register does not have are dropped.
FLITLAB_HD inline void write_register(Registers& r, SoftwareRegisters& software, Tag& lut, u32 wired, u32 number,
                                      u64 value) {
  value &= register_bits(number);
  if (number >= kLut)
    lut = static_cast<Tag>(value);
  else if (number == kScratch)
    software.scratch = value;
  else if (number == kSgetReturn)
    software.sget_return = value;
  else if (number >= kVcsel)
    r.vcsel[number - kVcsel] = static_cast<u16>((value & 0xFF) | (value >> 32 ? kDateline : 0));
  else if (number == kOverride)
    r.override_tag = static_cast<Tag>(value & kTagBits), r.lut_mode = static_cast<u8>(value >> 32);
  else if (number >= kChan)
    r.chan[number - kChan] = static_cast<u8>(value);
  else if (number == kPwho)
    r.pwho = static_cast<u32>(value);
  else if (number == kOrient)
    r.turned = static_cast<u8>(value ^ wired);
  else
    r.lwho = static_cast<u16>(value);
}

}  // namespace flitlab::t3e
