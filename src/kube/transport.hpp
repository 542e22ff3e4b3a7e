// Port: how a request reaches an API server. In process it is a call; over the network it is HTTP.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "base/result.hpp"
#include "json/value.hpp"

namespace berth::kube {

/// Who asks. In process the caller says so; over the network the listener found out.
struct User {
    std::string name;  ///< "system:anonymous" when not authenticated
    std::vector<std::string> groups;
};

struct Request {
    std::string method = "GET";
    std::string path;                                        ///< decoded once by the router, not before
    std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in order
    std::map<std::string, std::string> headers;              ///< names in lower case
    std::string body;                                        ///< raw bytes
    std::optional<json::Value> document;                     ///< set by in-process callers instead of a body
    User user;
    /// Set by callers in the same process that read a list's objects from Response::items.
    bool takes_shared_items = false;

    /// The first value of a query parameter; none when absent.
    [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
    [[nodiscard]] std::string header(std::string_view name) const;
};

struct Response {
    int code = 200;
    std::map<std::string, std::string> headers;  ///< content-type among them
    std::string body;
    /// Set instead of `body` for JSON answers: shared with the store, never changed. The listener prints it.
    std::shared_ptr<const json::Value> document;
    /// The objects of a list, instead of `items` in the document; only for requests that take them. Never changed.
    std::optional<std::vector<std::shared_ptr<const json::Value>>> items;
    std::vector<std::string> warnings;  ///< texts of Warning headers
};

/// The body of a long-running answer (watch, log): chunks until none.
class ByteStream {
public:
    virtual ~ByteStream() = default;
    /// The next chunk; none at the end. Cancellable.
    virtual Task<std::optional<std::string>> next() = 0;
};

struct WatchEvent {
    std::string type;  ///< ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
    std::shared_ptr<const json::Value> object;
};

class WatchStream {
public:
    virtual ~WatchStream() = default;
    /// The next event; none when the server closed the stream. Cancellable.
    virtual Task<std::optional<WatchEvent>> next() = 0;
};

class Transport {
public:
    virtual ~Transport() = default;

    /// One request, one answer; an answer of any code is a success here.
    /// Errors  unavailable: the server cannot be reached; timeout
    virtual Task<Result<Response>> request(Request request) = 0;

    /// Opens a watch (the query has watch=true). Errors as request(), and the server's refusal by its kind.
    virtual Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) = 0;
};

}  // namespace berth::kube
