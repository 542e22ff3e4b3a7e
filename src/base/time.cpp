#include "base/time.hpp"

#include <charconv>
#include <cstdio>

namespace berth {
namespace {

using namespace std::chrono_literals;
namespace chrono = std::chrono;

bool read_digits(std::string_view& text, std::size_t count, int& out) {
    if (text.size() < count) return false;
    const char* const end = text.data() + count;
    const auto [at, error] = std::from_chars(text.data(), end, out);
    if (error != std::errc{} || at != end || text.front() == '-') return false;
    text.remove_prefix(count);
    return true;
}

bool read_char(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

std::string date_and_time(Timestamp at) {
    const auto day = chrono::floor<chrono::days>(at);
    const chrono::year_month_day date{day};
    const chrono::hh_mm_ss clock{chrono::floor<chrono::seconds>(at - day)};
    char text[40];
    std::snprintf(
        text,
        sizeof text,
        "%04d-%02u-%02uT%02d:%02d:%02d",
        static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()),
        static_cast<int>(clock.hours().count()),
        static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count())
    );
    return text;
}

}  // namespace

std::string to_rfc3339(Timestamp at) { return date_and_time(at) + "Z"; }

std::string to_rfc3339_micro(Timestamp at) {
    const auto micros = (at - chrono::floor<chrono::seconds>(at)).count();
    char text[16];
    std::snprintf(text, sizeof text, ".%06dZ", static_cast<int>(micros));
    return date_and_time(at) + text;
}

std::optional<Timestamp> from_rfc3339(std::string_view text) {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    const bool shaped =
        read_digits(text, 4, year) && read_char(text, '-') && read_digits(text, 2, month) && read_char(text, '-') &&
        read_digits(text, 2, day) && (read_char(text, 'T') || read_char(text, 't')) && read_digits(text, 2, hour) &&
        read_char(text, ':') && read_digits(text, 2, minute) && read_char(text, ':') && read_digits(text, 2, second);
    if (!shaped || hour > 23 || minute > 59 || second > 60) return {};
    const chrono::year_month_day date{
        chrono::year{year}, chrono::month{static_cast<unsigned>(month)}, chrono::day{static_cast<unsigned>(day)}
    };
    if (!date.ok()) return {};
    int micros = 0;
    if (read_char(text, '.')) {
        int scale = 100'000;
        bool any = false;
        while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
            micros += (text.front() - '0') * scale;
            scale /= 10;
            any = true;
            text.remove_prefix(1);
        }
        if (!any) return {};
    }
    chrono::minutes offset{0};
    if (!read_char(text, 'Z') && !read_char(text, 'z')) {
        const bool minus = !text.empty() && text.front() == '-';
        if (!minus && (text.empty() || text.front() != '+')) return {};
        text.remove_prefix(1);
        int hours = 0, minutes = 0;
        if (!read_digits(text, 2, hours) || !read_char(text, ':') || !read_digits(text, 2, minutes)) return {};
        offset = chrono::hours{hours} + chrono::minutes{minutes};
        if (minus) offset = -offset;
    }
    if (!text.empty()) return {};
    return Timestamp{chrono::sys_days{date}} + chrono::hours{hour} + chrono::minutes{minute} + chrono::seconds{second} +
           chrono::microseconds{micros} - offset;
}

std::string human_duration(Duration age) {
    const auto seconds = chrono::floor<chrono::seconds>(age).count();
    if (seconds < -1) return "<invalid>";
    if (seconds < 0) return "0s";
    const auto minutes = seconds / 60, hours = seconds / 3600, days = seconds / 86400;
    const auto two = [](long long big, const char* unit, long long small, const char* small_unit) {
        std::string text = std::to_string(big) + unit;
        if (small != 0) text += std::to_string(small) + small_unit;
        return text;
    };
    if (seconds < 120) return std::to_string(seconds) + "s";
    if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
    if (hours < 3) return std::to_string(minutes) + "m";
    if (hours < 8) return two(hours, "h", minutes % 60, "m");
    if (hours < 48) return std::to_string(hours) + "h";
    if (days < 8) return two(days, "d", hours % 24, "h");
    if (days < 2 * 365) return std::to_string(days) + "d";
    if (days < 8 * 365) return two(days / 365, "y", days % 365, "d");
    return std::to_string(days / 365) + "y";
}

}  // namespace berth
