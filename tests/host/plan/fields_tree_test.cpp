/// The tree that flitlab builds from the lists of state fields, compared with the snapshots that a plan returns.
#include "host/plan/fields_tree.hpp"

#include <gtest/gtest.h>

#include "host/config/check.hpp"
#include "host/config/registry.hpp"
#include "kernels/common/fields.hpp"
#include "tests/support/build.hpp"

namespace flitlab::plan_fields_tree_test {
namespace {

using namespace testing;

const InspectValue& value(const InspectNode& node, std::string_view name) {
  for (const InspectValue& v : node.values)
    if (v.name == name) return v;
  throw std::out_of_range(node.kind + " has no value " + std::string(name));
}

u64 number(const InspectNode& node, std::string_view name) { return std::get<u64>(value(node, name).value.value); }

const InspectNode& part(const InspectNode& node, std::string_view kind, u32 index = 0) {
  u32 seen = 0;
  for (const InspectNode& p : node.parts)
    if (p.kind == kind && seen++ == index) return p;
  throw std::out_of_range(node.kind + " has no part " + std::string(kind));
}

/// A structure with arrays, nested records, bit fields and negative numbers. Its padding must not be shown.
struct Inner {
  FLITLAB_MEMBERS(Inner,
    (u16, near, "flits", "first"),
    (std::int8_t, delta, "hops", "second"),
    (u8, pad))
};
struct Outer {
  FLITLAB_MEMBERS(Outer,
    (Inner[2], inner, "", "both"),
    (u8[2][3], grid, "", "rows, one after the other"),
    (u8, low, "", "three bits", 3),
    (u8, high, "", "five bits", 5),
    (u8, pad))
};
struct GroupFields {
  FLITLAB_FIELDS(GroupFields,
    (u16, mail, t, "flits", "[slot] arriving", "group_mail"),
    (u32, absent, 0, "", "never there"))
};
struct AllFields {
  FLITLAB_FIELDS(AllFields,
    (u8, first, 1, "", "a byte"),
    (GroupFields, group),
    (Outer, outer, 1, "", "a record"))
};

TEST(FieldsTree, ShowsEveryKindOfMember) {
  StateLayout layout;
  layout.kinds.resize(1);
  ItemKind& kind = layout.kinds[0];
  kind.name = "thing";
  kind.count = 2;
  AllFields f;
  kind.add_fields(f, 3u);
  kind.finish();
  EXPECT_EQ(f, lay_out_fields<AllFields>(3u));
  EXPECT_EQ(f.group.mail.offset, 2u);
  EXPECT_EQ(f.outer.offset, 8u);
  ASSERT_EQ(kind.fields.size(), 3u);

  std::vector<std::byte> state(layout.bytes(1));
  const Item<1> item = Items<1>{state.data(), kind.item_bytes}[1];
  item.at(f.first) = 7;
  item.at(f.group.mail, 2) = 40000;
  item.at(f.outer) = {{{1, -2, 0}, {3, -128, 0}}, {{1, 2, 3}, {4, 5, 255}}, 5, 19, 0};

  const InspectNode node = fields_tree(layout, state, 0, 1);
  EXPECT_EQ(node.kind, "thing");
  EXPECT_EQ(node.name, "1");
  EXPECT_EQ(number(node, "first"), 7u);
  const InspectValue& mail = value(node, "group_mail");
  EXPECT_EQ(mail.unit, "flits");
  EXPECT_EQ(mail.help, "[slot] arriving");
  const Datum::List& list = std::get<Datum::List>(mail.value.value);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(std::get<u64>(list[2].value), 40000u);
  const InspectNode& outer = part(node, "outer");
  EXPECT_EQ(outer.help, "a record");
  EXPECT_EQ(outer.values.size(), 3u);
  EXPECT_EQ(std::get<Datum::List>(value(outer, "grid").value.value).size(), 6u);
  EXPECT_EQ(number(outer, "low"), 5u);
  EXPECT_EQ(number(outer, "high"), 19u);
  const InspectNode& second = part(outer, "inner", 1);
  EXPECT_EQ(second.name, "1");
  EXPECT_EQ(second.values.size(), 2u);
  EXPECT_EQ(number(second, "near"), 3u);
  EXPECT_EQ(std::get<std::int64_t>(value(second, "delta").value.value), -128);
}

TEST(FieldsTree, ARouterAsItsPlanShowsIt) {
  Network net(experiment("router.vcs=2 router.buffer_flits=6 traffic.load=0.4"));
  const u32 vcs = 2;
  for (const u32 cycles : {1u, 40u, 200u}) {
    net.step(cycles);
    const std::vector<std::byte> state = net.engine->state(0);
    u64 out = 0;
    for (u32 r = 0; r < 16; ++r) {
      const InspectNode tree = fields_tree(net.plan->layout(), state, 0, r);
      const std::vector<PortSnapshot> ports = net.plan->inspect_router(state, r);
      for (u32 p = 0; p < ports.size(); ++p)
        for (u32 v = 0; v < vcs; ++v) {
          const InspectNode& output = part(tree, "output", p * vcs + v);
          EXPECT_EQ(number(output, "credits"), ports[p].vcs[v].credits);
          EXPECT_EQ(value(output, "credits").unit, "flits");
          EXPECT_EQ(number(part(tree, "input", p * vcs + v), "flits"), ports[p].vcs[v].flits);
          out += 6 - number(output, "credits");
        }
      EXPECT_EQ(part(tree, "port").values.size(), 5u);  // three pointers, `occupied`, and the number of flits sent
    }
    if (cycles > 1) {
      EXPECT_GT(out, 0u);
    }
    const TerminalSnapshot terminal = net.plan->inspect_terminal(state, 3);
    const InspectNode shown = fields_tree(net.plan->layout(), state, 1, 3);
    EXPECT_EQ(number(part(shown, "control"), "created"), terminal.created);
    EXPECT_EQ(number(part(part(shown, "control"), "next"), "at"), terminal.next_creation);
  }
}

/// In every model each field has a description, fields do not overlap, and all items can be shown.
TEST(FieldsTree, EveryFieldOfEveryModelIsDescribed) {
  for (const ModelRecord& model : models()) {
    const std::string kind(model.kind);
    RawConfig raw = Settings("router.kind=", kind);
    if (kind == "bgl") raw["topology.shape"] = IntList{4, 4, 2};
    for (const auto& [setting, value] : model.everything) {
      ParamRecord record = *setting;
      record.default_value = value;
      raw[std::string(record.path)] = default_value(record);
    }
    const Network net(experiment(raw));
    const StateLayout& layout = net.plan->layout();
    const std::vector<std::byte> state = net.engine->state(0);
    for (u32 k = 0; k < layout.kinds.size(); ++k) {
      u32 end = 0;
      for (const FieldInfo& field : layout.kinds[k].fields) {
        EXPECT_GE(field.offset, end) << kind << " " << field.name;
        EXPECT_GT(field.count, 0u) << kind << " " << field.name;
        EXPECT_FALSE(field.meaning.empty()) << kind << " " << field.name;
        ASSERT_NE(field.element, nullptr);
        EXPECT_EQ(field.element->bytes, field.element_bytes);
        for (const MemberInfo& member : field.element->members)
          EXPECT_FALSE(member.meaning.empty()) << kind << " " << field.name << "." << member.name;
        end = field.offset + field.count * field.element_bytes;
      }
      EXPECT_LE(end, layout.kinds[k].item_bytes);
      const InspectNode node = fields_tree(layout, state, k, layout.kinds[k].count - 1);
      EXPECT_GE(node.values.size() + node.parts.size(), layout.kinds[k].fields.size());
    }
  }
}

}  // namespace
}  // namespace flitlab::plan_fields_tree_test
