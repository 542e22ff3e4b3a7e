// How a kind is described: a struct, and one list of its fields. Decode, encode and schema follow from the list.
//
//   template <> struct Describe<OwnerReference> {
//       static constexpr auto fields = std::tuple{
//           Field{"apiVersion", &OwnerReference::api_version, "API version of the owner."},
//           Field{"uid", &OwnerReference::uid, "UID of the owner."}};
//   };
//
// An object whose list is not complete says `static constexpr bool open = true;`: fields not listed are legal in it.
// Included by the .cpp files of this folder only; others use api/codec.hpp.
#pragma once

#include <tuple>

#include "json/value.hpp"

namespace berth::api {

template <class Owner, class Member>
struct Field {
    using Type = Member;

    const char* name;
    Member Owner::* member;
    const char* doc = "";
    const char* one_of = "";  ///< legal values of a string, separated by blanks; "" = any
    bool required = false;
    bool always = false;  ///< written even when empty ("status": {} of built-in kinds)

    constexpr Field values(const char* list) const {
        Field copy = *this;
        copy.one_of = list;
        return copy;
    }
    constexpr Field require() const {
        Field copy = *this;
        copy.required = true;
        return copy;
    }
    constexpr Field keep() const {
        Field copy = *this;
        copy.always = true;
        return copy;
    }
};

template <class Owner, class Member>
Field(const char*, Member Owner::*) -> Field<Owner, Member>;
template <class Owner, class Member>
Field(const char*, Member Owner::*, const char*) -> Field<Owner, Member>;

template <class T>
struct Describe;

template <class T>
concept Described = requires { Describe<T>::fields; };

template <class T>
constexpr bool is_open() {
    if constexpr (requires { Describe<T>::open; }) {
        return Describe<T>::open;
    } else {
        return false;
    }
}

}  // namespace berth::api
