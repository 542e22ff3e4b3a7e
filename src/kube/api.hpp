// The Kubernetes API as our code calls it: typed errors, whole documents, over any transport.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kind.hpp"
#include "base/text.hpp"
#include "kube/transport.hpp"

namespace berth::kube {

using Document = std::shared_ptr<const json::Value>;

struct ListOptions {
    std::string ns;  ///< "" = all
    std::string label_selector;
    std::string field_selector;
};

struct Listing {
    std::vector<Document> items;
    ResourceVersion at;
};

struct DeleteOptions {
    Uid uid;  ///< "" = no precondition
    std::optional<std::int64_t> grace_seconds;
    std::string propagation;  ///< "" = the server's default
};

/// The Status of a failed answer as an Error of the matching kind; one is made from the code when the body is none.
Error error_of(const Response& response);
/// The same for a Status document: the object of a watch's ERROR event.
Error error_of_status(const json::Value& status);

/// "/api/v1/namespaces/default/pods/web" and its like; name "" = the collection, ns "" = all namespaces.
std::string path_of(
    const api::Kind& kind, const std::string& ns, const std::string& name = "", const std::string& subresource = ""
);

class Api {
public:
    /// `user` is who asks in process; over the network the transport's credentials decide.
    Api(Transport& transport, User user) : transport_(transport), user_(std::move(user)) {}

    /// The same server, asked by someone else.
    [[nodiscard]] Api as(User user) const { return {transport_, std::move(user)}; }

    /// Errors  not_found, forbidden, unavailable, timeout
    Task<Result<Document>> get(api::Key key);
    /// All objects, page by page, at one resource version.
    Task<Result<Listing>> list(const api::Kind& kind, ListOptions options);
    /// Errors  already_exists, invalid (the message has every cause), forbidden, not_found (namespace)
    Task<Result<Document>> create(json::Value document);
    /// Merge patch; `subresource` "" or "status".
    /// Errors  not_found, conflict (a uid or resourceVersion inside the patch does not match), invalid
    Task<Result<Document>> patch(api::Key key, json::Value patch, std::string subresource = "");
    /// Whole replacement; the document carries the resourceVersion it is based on. Errors conflict, not_found, invalid
    Task<Result<Document>> update(json::Value document, std::string subresource = "");
    Task<Result<void>> remove(api::Key key, DeleteOptions options = {});
    /// Binds a pod to a node. Errors conflict: bound already
    Task<Result<void>> bind(api::Key pod, Uid uid, std::string node);
    /// Events after `from`; "" = now with synthetic ADDED first. Errors gone: `from` is too old, list again
    Task<Result<std::unique_ptr<WatchStream>>> watch(const api::Kind& kind, ListOptions options, ResourceVersion from);
    /// Anything else: a raw request under our identity.
    Task<Result<Response>> raw(Request request);

private:
    Transport& transport_;
    User user_;
};

}  // namespace berth::kube
