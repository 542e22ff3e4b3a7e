#include "apiserver/types.hpp"

#include <charconv>

#include "base/check.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {

extern const std::string_view kKubeTypes;  // docs/spec/kube-types.tsv, embedded by the build

namespace {

constexpr struct {
    std::string_view name;
    Form form;
} kSpecial[] = {
    {"string",                                        Form::text           },
    {"types.UID",                                     Form::text           },
    {"bool",                                          Form::boolean        },
    {"int32",                                         Form::int32          },
    {"int64",                                         Form::int64          },
    {"float64",                                       Form::number         },
    {"meta.Time",                                     Form::time           },
    {"meta.MicroTime",                                Form::micro_time     },
    {"meta.Duration",                                 Form::duration       },
    {"resource.Quantity",                             Form::quantity       },
    {"intstr.IntOrString",                            Form::int_or_string  },
    {"meta.FieldsV1",                                 Form::any            },
    {"runtime.RawExtension",                          Form::any            },
    {"apiextensions/v1.JSON",                         Form::any            },
    {"interface{}",                                   Form::any            },
    {"apiextensions/v1.JSONSchemaPropsOrBool",        Form::schema_or_bool },
    {"apiextensions/v1.JSONSchemaPropsOrArray",       Form::schema_or_list },
    {"apiextensions/v1.JSONSchemaPropsOrStringArray", Form::schema_or_texts},
};

// Lists that are a message of their own in protobuf.
constexpr std::string_view kWrapped[] = {
    "meta.Verbs", "authorization/v1.ExtraValue", "authentication/v1.ExtraValue", "certificates/v1.ExtraValue"
};

constexpr std::string_view kOptions[] = {
    "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions", "ListOptions", "GetOptions"
};

std::string_view cut(std::string_view& rest, char separator) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

class Table {
public:
    Table() {
        read_names();
        read_fields();
        for (Type* type : owned_) finish(*type);
        for (Type& type : types_) all_.push_back(&type);
    }

    const Type* named(std::string_view name) const {
        const auto it = by_name_.find(name);
        return it == by_name_.end() ? nullptr : it->second;
    }
    const Type* of_kind(std::string_view api_version, std::string_view kind) const {
        const auto it = by_kind_.find({contains(kOptions, kind) ? "meta/v1" : api_version, kind});
        return it == by_kind_.end() ? nullptr : it->second;
    }
    std::span<const Type* const> all() const { return all_; }

private:
    // Calls `use` with the cells of each line that starts with `letter`.
    template <class Use>
    static void lines(char letter, Use use) {
        std::string_view rest = kKubeTypes;
        while (!rest.empty()) {
            std::string_view line = cut(rest, '\n');
            if (line.empty() || line.front() != letter) continue;
            cut(line, '\t');
            use(line);
        }
    }

    void read_names() {
        lines('A', [&](std::string_view line) {
            const std::string_view alias = cut(line, '\t');
            aliases_[alias] = line;
        });
        lines('T', [&](std::string_view line) {
            Type& type = types_.emplace_back();
            type.name = cut(line, '\t');
            type.api_version = cut(line, '\t');
            while (!line.empty()) {
                const std::string_view flag = cut(line, ',');
                type.is_root |= flag == "root";
                type.is_cluster |= flag == "cluster";
                type.is_atomic |= flag == "st=atomic";
            }
            by_name_[type.name] = &type;
            if (type.is_root) by_kind_[{type.api_version, type.kind()}] = &type;
            owned_.push_back(&type);
        });
    }

    void read_fields() {
        std::string_view rest = kKubeTypes;
        Type* type = nullptr;
        while (!rest.empty()) {
            std::string_view line = cut(rest, '\n');
            if (line.starts_with("T\t")) {
                cut(line, '\t');
                type = by_name_.at(cut(line, '\t'));
            } else if (line.starts_with("F\t")) {
                cut(line, '\t');
                read_field(line, type->fields.emplace_back());
            }
        }
    }

    void read_field(std::string_view line, Field& field) {
        field.name = cut(line, '\t');
        field.is_inlined = field.name.starts_with('~');
        std::string_view type = cut(line, '\t');
        field.is_pointer = type.starts_with('*');
        field.shape = shape_of(type);
        const std::string_view number = cut(line, '\t');
        std::from_chars(number.data(), number.data() + number.size(), field.number);
        while (!line.empty()) read_flag(cut(line, ','), field);
    }

    static void read_flag(std::string_view flag, Field& field) {
        const auto value = [&](std::string_view name, std::string_view& out) {
            if (flag.starts_with(name)) out = flag.substr(name.size());
        };
        field.omits_empty |= flag == "oe";
        field.is_optional |= flag == "opt";
        field.merges |= flag == "ps=merge";
        field.replaces |= flag == "ps=replace";
        field.retains_keys |= flag == "retainKeys" || flag == "ps=retainKeys";
        value("mk=", field.merge_key);
        value("lt=", field.list_type);
        value("lmk=", field.list_map_keys);
        value("st=", field.map_type);
        value("def=", field.default_text);
        if (field.default_text.starts_with("ref(")) field.default_text = {};
    }

    const Shape* shape_of(std::string_view text) {
        if (text.starts_with('*')) text.remove_prefix(1);
        const auto known = shapes_.find(text);
        if (known != shapes_.end()) return known->second;
        Shape& shape = shape_store_.emplace_back();
        shapes_[text] = &shape;  // before its parts are looked at: schemas contain themselves
        shape.go = go_name(text);
        fill(shape, text);
        return &shape;
    }

    void fill(Shape& shape, std::string_view text) {
        const auto special = std::ranges::find(kSpecial, text, [](const auto& row) { return row.name; });
        if (special != std::end(kSpecial)) {
            shape.form = special->form;
            if (shape.form >= Form::schema_or_bool) shape.object = by_name_.at("apiextensions/v1.JSONSchemaProps");
        } else if (text == "[]byte") {
            shape.form = Form::bytes;
        } else if (text.starts_with("[]")) {
            shape.form = Form::list;
            shape.element = shape_of(text.substr(2));
        } else if (text.starts_with("map[")) {
            shape.form = Form::map;
            shape.element = shape_of(text.substr(text.find(']') + 1));
        } else if (const auto alias = aliases_.find(text); alias != aliases_.end()) {
            const Shape& meant = *shape_of(alias->second);
            shape.form = meant.form;
            shape.object = meant.object;
            shape.element = meant.element;
            shape.is_wrapped = contains(kWrapped, text);
        } else if (const auto type = by_name_.find(text); type != by_name_.end()) {
            shape.form = Form::object;
            shape.object = type->second;
        }
    }

    // "[]core/v1.Container" is "[]v1.Container" in the errors of a Go program.
    std::string_view go_name(std::string_view text) {
        std::string out;
        std::size_t start = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '[' || text[i] == ']' || text[i] == '*') {
                out += text.substr(start, i + 1 - start);
                start = i + 1;
            } else if (text[i] == '/') {
                start = i + 1;
            } else if (text.substr(i).starts_with("meta.")) {
                out += "v1.";
                start = i + 5;
            }
        }
        out += text.substr(start);
        return go_names_.emplace_back(std::move(out));
    }

    void finish(Type& type) {
        type.shape = shape_of(type.name);
        add_json_fields(type, type);
    }

    static void add_json_fields(Type& type, const Type& from) {
        for (const Field& field : from.fields) {
            if (field.is_inlined) {
                if (field.shape->object != nullptr) add_json_fields(type, *field.shape->object);
            } else if (field.name != "-") {
                type.json_fields.push_back(&field);
                type.by_name[field.name] = &field;
            }
        }
    }

    std::deque<Type> types_;
    std::deque<Shape> shape_store_;
    std::deque<std::string> go_names_;
    std::vector<Type*> owned_;
    std::vector<const Type*> all_;
    std::map<std::string_view, Type*> by_name_;
    std::map<std::pair<std::string_view, std::string_view>, const Type*> by_kind_;
    std::map<std::string_view, std::string_view> aliases_;
    std::map<std::string_view, const Shape*> shapes_;
};

// Read once and never changed; 0.3 s of start-up budget leave no room to read it per server.
const Table& table() {
    static const Table read_once;
    return read_once;
}

}  // namespace

json::MergeField Shape::field(std::string_view name) const {
    if (form == Form::map) return {.inner = element};
    const Field* known = object == nullptr ? nullptr : object->field(name);
    if (known == nullptr) return {};
    const Shape& shape = *known->shape;
    const bool is_list = shape.form == Form::list;
    return {
        .merges = is_list && known->merges,
        .replaces = !is_list && known->replaces,
        .merge_key = known->merge_key,
        .inner = is_list ? shape.element : &shape,
    };
}

const Field* Type::field(std::string_view json_name) const {
    const auto it = by_name.find(json_name);
    return it == by_name.end() ? nullptr : it->second;
}

const Type* find_type(std::string_view api_version, std::string_view kind) {
    return table().of_kind(api_version, kind);
}

const Type* type_of(const api::Kind& kind) {
    if (kind.serving != api::Serving::built_in) return nullptr;
    return find_type(kind.api_version(), kind.kind);
}

const Type* find_type_named(std::string_view name) { return table().named(name); }

std::span<const Type* const> all_types() { return table().all(); }

}  // namespace berth::apiserver
