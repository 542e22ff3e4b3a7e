// What a claim that is to be filled wants: a worker, a word on its claim, or its removal.
#pragma once

#include "api/plan.hpp"
#include "datavolume/import/view.hpp"

namespace berth::datavolume::import {

api::Plan nothing(const View& view);
api::Plan remove_worker(const View& view);
api::Plan await_foreign_pod(const View& view);
api::Plan clean_up(const View& view);
api::Plan give_up(const View& view);
api::Plan record_success(const View& view);
api::Plan replace_failed_pod(const View& view);
api::Plan report_worker(const View& view);
api::Plan await_pod_removal(const View& view);
api::Plan await_binding(const View& view);
api::Plan await_users(const View& view);
api::Plan report_refusal_and_retry(const View& view);
api::Plan create_worker(const View& view);

}  // namespace berth::datavolume::import
