#pragma once
/// Registers of a node by number, for the host and for special packets. Bit formats are the manual's (HMM-146-0) where
/// it gives them. The bit positions in R_NET_LUT, R_LUT_OVERRIDE and R_SGET_RTRN are flitlab's, because the manual's
/// tables of them are lost.
#include "kernels/routers/t3e/state.hpp"

namespace flitlab::t3e {

inline constexpr u64 kTagBits = (1u << 19) - 1;
inline constexpr u32 kDeltas = 6;

/// List of the registers, in the order of RegisterNumber: enumerator, name, number of registers, bits that the register
/// has, expression that reads it, statement that writes `value` into it, meaning. A # in the name stands for the number
/// of a register. Expressions may use the arguments of read_register() and write_register().
#define FLITLAB_T3E_REGISTERS(macro)                                                                                   \
  FLITLAB_FOR_EACH(                                                                                                    \
      macro, ,                                                                                                         \
      (kOrient, "R_ORIENT", 1, 7, r.turned ^ wired, r.turned = static_cast<u8>(value ^ wired),                         \
       "Bits 0, 1, 2: 1 if port 1 of X, Y, Z is +, else port 0 is. A write sets all nodes; over a link of like ports " \
       "the dimension's bit is inverted."),                                                                            \
      (kPwho, "R_PWHO", 1, 0xF1F07, r.pwho, r.pwho = static_cast<u32>(value),                                          \
       "Physical number of the node: X in bits 2:0, Y in 12:8, Z in 19:16."),                                          \
      (kLwho, "R_LWHO", 1, 0xFFF, r.lwho, r.lwho = static_cast<u16>(value),                                            \
       "Logical number of the PE, under which routing tables have the tags of packets to it."),                        \
      (kWhoami, "L_WHOAMI", 1, 0xFFF, r.lwho, r.lwho = static_cast<u16>(value),                                        \
       "The same number, as the PE reads it."),                                                                        \
      (kChan, "R_CHAN#", 8, number - kChan < kDirections ? 15 : 3, r.chan[number - kChan],                             \
       r.chan[number - kChan] = static_cast<u8>(value),                                                                \
       "For channels +X +Y +Z -X -Y -Z, node, I/O: bit 0 IGNORE_NORMAL, 1 IGNORE_SPCL, 2 NO_ADAPT, 3 NO_FAST; node "   \
       "and I/O have only bits 0 and 1."),                                                                             \
      (kOverride, "R_LUT_OVERRIDE", 1, kTagBits | u64{3} << 32, r.override_tag | u64{r.lut_mode} << 32,                \
       (r.override_tag = static_cast<Tag>(value & kTagBits), r.lut_mode = static_cast<u8>(value >> 32)),               \
       "Tag of mode 3 in bits 18:0, mode 0 to 3 of the R_NET_LUT in 33:32."),                                          \
      (kVcsel, "R_VCSEL#", kDirections, 0xFF | u64{1} << 32,                                                           \
       (r.vcsel[number - kVcsel] & 0xFF) | (r.vcsel[number - kVcsel] & kDateline ? u64{1} << 32 : 0),                  \
       r.vcsel[number - kVcsel] = static_cast<u16>((value & 0xFF) | (value >> 32 ? kDateline : 0)),                    \
       "For directions +X +Y +Z -X -Y -Z. Bits 7:0 SELECT: virtual channel set, by the three low bits of the "         \
       "destination's coordinate; bit 32 DATELINE: the dateline of the direction is at this node."),                   \
      (kSgetReturn, "R_SGET_RTRN", 1, (u64{1} << 8 * kDeltas) - 1, software.sget_return, software.sget_return = value, \
       "Path of answers to an SGET: six signed bytes of hops, primary X lowest."),                                     \
      (kScratch, "R_SW", 1, ~u64{0}, software.scratch, software.scratch = value,                                       \
       "Free for software; the hardware does not use it."),                                                            \
      (kLut, "R_NET_LUT#", kLutRegisters, kTagBits, lut, lut = static_cast<Tag>(value),                                \
       "Routing tag by logical number: coordinates, directions, initial and final hop, ADAPT."))

#define FLITLAB_REGISTER_NUMBER(unused, first, name, count, ...) first, first##Last = first + (count) - 1,
#define FLITLAB_REGISTER_BITS(unused, first, name, count, bits, ...) \
  if (number <= first##Last) return bits;
#define FLITLAB_REGISTER_READ(unused, first, name, count, bits, read, ...) \
  if (number <= first##Last) return read;
#define FLITLAB_REGISTER_WRITE(unused, first, name, count, bits, read, write, ...) \
  if (number <= first##Last) {                                                     \
    write;                                                                         \
    return;                                                                        \
  }

enum RegisterNumber : u32 { FLITLAB_T3E_REGISTERS(FLITLAB_REGISTER_NUMBER) kRegisterCount };

/// Returns the mask of the bits that a register has.
FLITLAB_HD constexpr u64 register_bits(u32 number) {
  FLITLAB_T3E_REGISTERS(FLITLAB_REGISTER_BITS)
  return 0;
}

/// Returns the value of register `number`. `lut`: the R_NET_LUT register if `number` names one; `wired`: the node's
/// entry of Table::wired.
FLITLAB_HD inline u64 read_register(const Registers& r, const SoftwareRegisters& software, Tag lut, u32 wired,
                                    u32 number) {
  FLITLAB_T3E_REGISTERS(FLITLAB_REGISTER_READ)
  return 0;
}

/// Writes register `number`. Bits that the register does not have are dropped.
FLITLAB_HD inline void write_register(Registers& r, SoftwareRegisters& software, Tag& lut, u32 wired, u32 number,
                                      u64 value) {
  value &= register_bits(number);
  FLITLAB_T3E_REGISTERS(FLITLAB_REGISTER_WRITE)
}

}  // namespace flitlab::t3e
