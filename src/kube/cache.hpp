// What a controller knows: one cache per kind, fed by list and watch, with the indexes that joins need.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/codec.hpp"
#include "api/kind.hpp"
#include "api/meta.hpp"
#include "kube/api.hpp"

namespace berth::kube {

/// The part of a cache that does not depend on the kind: what the reflector feeds and the engine waits on.
class CacheBase {
public:
    /// Called after each change with the object before and after (nullptr = absent).
    using Listener = std::function<void(const api::ObjectMeta* before, const api::ObjectMeta* after)>;

    explicit CacheBase(const api::Kind& kind) : kind_(kind) {}
    virtual ~CacheBase() = default;
    CacheBase(const CacheBase&) = delete;
    CacheBase& operator=(const CacheBase&) = delete;

    [[nodiscard]] const api::Kind& kind() const { return kind_; }
    [[nodiscard]] bool is_synced() const { return synced_; }
    /// The highest resource version reflected, as a number.
    [[nodiscard]] std::uint64_t seen() const { return seen_; }
    void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
    /// Called after the listeners of every step forward, bookmarks included. The engine's.
    std::function<void()> progressed;

    /// A whole list: what is not in it is gone.
    void replace(const std::vector<Document>& items, const ResourceVersion& at);
    void put(const Document& document);
    void remove(const Document& document);
    void advance(const ResourceVersion& at);  ///< a bookmark

    /// The metadata of what the cache holds under a name, or nullptr.
    [[nodiscard]] virtual const api::ObjectMeta* meta(const std::string& ns, const std::string& name) const = 0;

protected:
    /// Stores or removes (document = nullptr); calls the listeners through changed().
    virtual void store(const std::string& ns, const std::string& name, const Document& document) = 0;
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> names() const = 0;
    void changed(const api::ObjectMeta* before, const api::ObjectMeta* after);

private:
    const api::Kind& kind_;
    std::vector<Listener> listeners_;
    std::uint64_t seen_ = 0;
    bool synced_ = false;
};

/// One cached object: the typed struct rules read, and the whole document patches are made against.
template <class T>
struct Cached {
    T object;
    Document document;
};

template <class T>
class Cache final : public CacheBase {
public:
    using Entry = std::shared_ptr<const Cached<T>>;
    using CacheBase::CacheBase;

    /// nullptr when absent.
    [[nodiscard]] const T* get(const std::string& ns, const std::string& name) const {
        const auto it = entries_.find({ns, name});
        return it == entries_.end() ? nullptr : &it->second->object;
    }
    [[nodiscard]] Entry entry(const std::string& ns, const std::string& name) const {
        const auto it = entries_.find({ns, name});
        return it == entries_.end() ? nullptr : it->second;
    }
    /// In order of namespace and name; ns "" = all.
    [[nodiscard]] std::vector<const T*> all(const std::string& ns = "") const {
        std::vector<const T*> out;
        auto it = ns.empty() ? entries_.begin() : entries_.lower_bound({ns, ""});
        for (; it != entries_.end() && (ns.empty() || it->first.first == ns); ++it) out.push_back(&it->second->object);
        return out;
    }
    /// Objects whose controller has this UID, in order of name.
    [[nodiscard]] std::vector<const T*> owned_by(const Uid& owner) const {
        std::vector<const T*> out;
        const auto it = by_owner_.find(owner);
        if (it == by_owner_.end()) return out;
        for (const auto& name : it->second) out.push_back(&entries_.at(name)->object);
        return out;
    }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

    [[nodiscard]] const api::ObjectMeta* meta(const std::string& ns, const std::string& name) const override {
        const T* object = get(ns, name);
        return object == nullptr ? nullptr : &object->metadata;
    }

protected:
    void store(const std::string& ns, const std::string& name, const Document& document) override {
        const std::pair<std::string, std::string> key{ns, name};
        const auto it = entries_.find(key);
        const Entry before = it == entries_.end() ? nullptr : it->second;
        Entry after;
        if (document) {
            // An object of our own schema always decodes; one that does not is kept by its metadata alone.
            Result<T> typed = api::decode<T>(*document);
            auto cached = std::make_shared<Cached<T>>();
            if (typed) {
                cached->object = std::move(*typed);
            } else if (auto only = api::decode<api::ObjectMeta>(document->at("metadata"))) {
                cached->object.metadata = std::move(*only);
            }
            cached->document = document;
            after = std::move(cached);
        }
        if (before) {
            if (const auto* owner = before->object.metadata.controller()) {
                auto& names = by_owner_[owner->uid];
                names.erase(key);
                if (names.empty()) by_owner_.erase(owner->uid);
            }
        }
        if (after) {
            entries_[key] = after;
            if (const auto* owner = after->object.metadata.controller()) by_owner_[owner->uid].insert(key);
        } else {
            entries_.erase(key);
        }
        changed(before ? &before->object.metadata : nullptr, after ? &after->object.metadata : nullptr);
    }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> names() const override {
        std::vector<std::pair<std::string, std::string>> out;
        for (const auto& [key, entry] : entries_) out.push_back(key);
        return out;
    }

private:
    std::map<std::pair<std::string, std::string>, Entry> entries_;
    std::map<Uid, std::set<std::pair<std::string, std::string>>> by_owner_;
};

}  // namespace berth::kube
