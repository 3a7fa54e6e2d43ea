#include "host/programs/forms.hpp"

namespace flitlab {

const std::vector<Form>& forms() {
  using enum Argument;
  static const std::vector<Form> list{
      {"compute", CallKind::kCompute, 1, {kCycles}},
      {"send", CallKind::kSend, 2, {kPeer, kBytes, kTag}},
      {"isend", CallKind::kIsend, 2, {kPeer, kBytes, kTag, kHandle}},
      {"recv", CallKind::kReceive, 1, {kPeer, kBytes, kTag}},
      {"irecv", CallKind::kIreceive, 1, {kPeer, kBytes, kTag, kHandle}},
      {"wait", CallKind::kWait, 1, {kHandle}},
      {"waitall", WaitAll{}, 0, {}},
      {"notify", CallKind::kSignal, 1, {kPeer, kTag}},
      {"after", CallKind::kAfter, 1, {kPeer, kTag}},
      {"barrier", CollectiveKind::kBarrier, 0, {kGroup}},
      {"broadcast", CollectiveKind::kBroadcast, 2, {kRoot, kBytes, kGroup}},
      {"reduce", CollectiveKind::kReduce, 2, {kRoot, kBytes, kCycles, kGroup}},
      {"allreduce", CollectiveKind::kAllreduce, 1, {kBytes, kCycles, kGroup}},
      {"allgather", CollectiveKind::kAllgather, 1, {kBytes, kGroup}},
      {"alltoall", CollectiveKind::kAlltoall, 1, {kBytes, kGroup}},
  };
  return list;
}

}  // namespace flitlab
