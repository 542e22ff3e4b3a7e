// What a kubelet does with a pod. Effects, all with {uid}:
//   "look at containers"                             asks the runtime what there is
//   "make pod directory", "remove pod directory"
//   "prepare volume" {volume}                        what volume_request() says
//   "start container" {container, attempt}           what container_spec() says
//   "signal container" {id, signal}, "remove container" {id}
#pragma once

#include "solo/rules/kubelet/view.hpp"

namespace berth::solo::kubelet {

api::Plan look(const View& view);
/// What the node still has of a pod that the API no longer knows.
api::Plan clean_up(const View& view);
/// TERM, KILL at the end of the grace period, and last of all the object.
api::Plan end_deleted(const View& view);
/// The same for what still runs when the pod is over.
api::Plan end_rest(const View& view);
api::Plan leave(const View& view);
api::Plan watch(const View& view);
api::Plan make_directory(const View& view);
api::Plan prepare_volumes(const View& view);
api::Plan start_next(const View& view);

}  // namespace berth::solo::kubelet
