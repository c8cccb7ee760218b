#include "sotto/data/detail/toml_tree.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "sotto/data/detail/toml_scanner.hpp"

namespace sotto::detail {
namespace {

using Json = nlohmann::ordered_json;
using Key = TomlScanner::Key;
constexpr std::size_t kMaximalDepth = 32;

// How a table came to be decides what may be added to it later.
enum class Origin { value, passed_by_header, header, dotted_key };

struct Node {
  Origin origin = Origin::value;
  Position at;
  Json value;                      // of Origin::value
  std::vector<std::string> order;  // names of the members
  std::unordered_map<std::string, std::unique_ptr<Node>> members;
};

class Document {
 public:
  explicit Document(std::string_view text) : scanner_(text) { root_.origin = Origin::header; }

  Json read(Positions& positions) {
    Node* table = &root_;
    for (scanner_.skip_blank(); !scanner_.at_end(); scanner_.skip_blank()) {
      if (scanner_.peek() == '[') {
        table = &header();
      } else {
        assign(*table, 0);
      }
      scanner_.end_line();
    }
    return tree(root_, "", positions);
  }

 private:
  Node& header() {
    scanner_.expect('[', "");
    if (scanner_.peek() == '[') scanner_.fail("a list of tables has no place in a schema");
    const std::vector<Key> key = scanner_.key();
    scanner_.expect(']', "after the name of a table");
    Node* table = &root_;
    for (std::size_t i = 0; i < key.size(); ++i) {
      Node& next = member(*table, key[i], Origin::passed_by_header, i);
      if (next.origin == Origin::value) twice(key[i]);
      table = &next;
    }
    if (table->origin != Origin::passed_by_header) twice(key.back());
    table->origin = Origin::header;
    return *table;
  }

  // name = value, or several names with dots between, in a table at this depth.
  void assign(Node& parent, std::size_t depth) {
    const std::vector<Key> key = scanner_.key();
    scanner_.expect('=', "after a name");
    scanner_.skip_spaces();
    Node* table = &parent;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      table = &member(*table, key[i], Origin::dotted_key, depth + i);
      if (table->origin != Origin::dotted_key) twice(key[i]);
    }
    const std::size_t before = table->order.size();
    Node& place = member(*table, key.back(), Origin::value, depth + key.size() - 1);
    if (table->order.size() == before) twice(key.back());
    place.value = value(depth + key.size());
  }

  Json value(std::size_t depth) {
    if (depth > kMaximalDepth) too_deep();
    const char c = scanner_.peek();
    if (c == '"' || c == '\'') return scanner_.string();
    if (c == '[') return list(depth);
    if (c == '{') return inline_table(depth);
    return scanner_.scalar();
  }

  Json list(std::size_t depth) {
    scanner_.expect('[', "");
    Json items = Json::array();
    for (scanner_.skip_blank(); !scanner_.accept(']'); scanner_.skip_blank()) {
      items.push_back(value(depth + 1));
      scanner_.skip_blank();
      if (scanner_.accept(',')) continue;
      scanner_.expect(']', "at the end of a list, or a comma");
      break;
    }
    return items;
  }

  Json inline_table(std::size_t depth) {
    scanner_.expect('{', "");
    Node table;
    scanner_.skip_spaces();
    if (!scanner_.accept('}')) {
      do {
        assign(table, depth);
        scanner_.skip_spaces();
      } while (scanner_.accept(','));
      scanner_.expect('}', "at the end of a table, or a comma");
    }
    table.origin = Origin::header;
    Positions inside;  // one place is enough for what stands on one line
    return tree(table, "", inside);
  }

  Node& member(Node& table, const Key& key, Origin origin, std::size_t depth) {
    if (depth >= kMaximalDepth) too_deep();
    std::unique_ptr<Node>& place = table.members[key.name];
    if (!place) {
      place = std::make_unique<Node>();
      place->origin = origin;
      place->at = key.at;
      table.order.push_back(key.name);
    }
    return *place;
  }

  [[noreturn]] void twice(const Key& key) const {
    throw SchemaProblem{key.at.line, key.at.column, "",
                        fmt::format("not valid TOML: '{}' is defined twice", key.name),
                        "each name stands once in its table, each [table] once in the document"};
  }
  [[noreturn]] void too_deep() const {
    scanner_.fail(fmt::format("nested more than {} deep", kMaximalDepth));
  }

  static Json tree(Node& node, const std::string& where, Positions& positions) {
    if (node.origin == Origin::value) return std::move(node.value);
    Json json = Json::object();
    for (const std::string& name : node.order) {
      Node& child = *node.members.at(name);
      const std::string path = where.empty() ? name : fmt::format("{}.{}", where, name);
      positions[path] = child.at;
      // Appended: insertion would look through all members.
      json.get_ref<Json::object_t&>().push_back({name, tree(child, path, positions)});
    }
    return json;
  }

  TomlScanner scanner_;
  Node root_;
};

}  // namespace

nlohmann::ordered_json toml_tree(std::string_view text, Positions& positions) {
  return Document(text).read(positions);
}

}  // namespace sotto::detail
