#include "node/edge/linux_figures.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace berth::node {
namespace {

class LinuxFiguresTest : public ::testing::Test {
protected:
    LinuxFiguresTest() {
        char path[] = "/tmp/figures-XXXXXX";
        folder_ = ::mkdtemp(path);
        std::filesystem::create_directory(folder_ + "/a");
        figures_.on_figure([this](const Uid& pod, const std::string& figure) {
            told_.push_back(pod.value + " " + figure);
        });
    }
    ~LinuxFiguresTest() override {
        figures_.on_figure({});
        TaskGroup group(context_.get_executor());
        group.spawn("close", figures_.close());
        context_.run_for(std::chrono::seconds(5));
        std::filesystem::remove_all(folder_);
    }
    // As a worker does.
    void leave(const std::string& pod, const std::string& text) {
        const std::string path = folder_ + "/" + pod + "/" + kFigureFile;
        std::ofstream(path + ".new") << text;
        std::filesystem::rename(path + ".new", path);
    }
    std::vector<std::string> told_within(std::size_t count) {
        for (int i = 0; told_.size() < count && i < 100; ++i) {
            context_.run_one_for(std::chrono::milliseconds(50));
            context_.restart();
        }
        context_.poll();
        return std::exchange(told_, {});
    }

    boost::asio::io_context context_;
    std::string folder_;
    std::vector<std::string> told_;
    LinuxFigures figures_{context_.get_executor(), [this](const Uid& pod) { return folder_ + "/" + pod.value; }};
};

TEST_F(LinuxFiguresTest, D77_TellsWhatIsThereAndWhatComes) {
    leave("a", "1.50%");
    figures_.follow(Uid{"a"});
    EXPECT_EQ(told_within(1), std::vector<std::string>{"a 1.50%"});
    leave("a", "12.34%");
    EXPECT_EQ(told_within(1), std::vector<std::string>{"a 12.34%"});
    figures_.drop(Uid{"a"});
    leave("a", "20.00%");
    EXPECT_EQ(told_within(0), std::vector<std::string>{});
    figures_.follow(Uid{"a"});
    EXPECT_EQ(told_within(1), std::vector<std::string>{"a 20.00%"});
}

TEST_F(LinuxFiguresTest, AFolderThatComesLaterIsFollowedWhenAskedAgain) {
    figures_.follow(Uid{"b"});
    std::filesystem::create_directory(folder_ + "/b");
    leave("b", "3.00%");
    figures_.follow(Uid{"b"});
    EXPECT_EQ(told_within(1), std::vector<std::string>{"b 3.00%"});
}

// The pod owns the folder: it may leave anything there.
TEST_F(LinuxFiguresTest, OnlyFiguresAreTold) {
    figures_.follow(Uid{"a"});
    for (const char* text :
         {"", "100.0%", "100.00%", "-1.00%", "1.0%", "1.00", "nan%", "1.00%\n", "12345678901234567890"}) {
        leave("a", text);
    }
    std::filesystem::create_symlink("/etc/hostname", folder_ + "/a/link");
    std::filesystem::rename(folder_ + "/a/link", folder_ + "/a/" + kFigureFile);
    EXPECT_EQ(told_within(0), std::vector<std::string>{});
    leave("a", "99.99%");
    EXPECT_EQ(told_within(1), std::vector<std::string>{"a 99.99%"});
}

}  // namespace
}  // namespace berth::node
