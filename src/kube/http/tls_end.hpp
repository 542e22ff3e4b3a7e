// The Boost side of a Wire, for the two files that need the stream itself.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "base/async/task.hpp"

namespace berth::kube::http {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
using TlsStream = boost::asio::ssl::stream<Socket>;

struct TlsEnd {
    TlsEnd(Socket socket, boost::asio::ssl::context& context) : stream(std::move(socket), context) {}
    TlsStream stream;
};

}  // namespace berth::kube::http
