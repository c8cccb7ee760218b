// Records in memory, whatever their form: rows of a table or images. Attacks choose among them and
// train on what they chose.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "options/arguments.hpp"
#include "sotto/learning/block.hpp"
#include "sotto/learning/facts.hpp"
#include "sotto/learning/source.hpp"

namespace sotto::cli {

class RecordSet {
 public:
  explicit RecordSet(Table table) : records_(std::move(table)) {}
  explicit RecordSet(Images images) : records_(std::move(images)) {}

  // All that --data names. Images whose label is none of the declared classes are left out. Facts
  // without a declared number of rows fit any file.
  static RecordSet read(const Arguments& arguments, const Facts& any);
  // The labelled images of a folder, as they are read for training.
  static RecordSet images(const std::string& folder, const ImageFacts& facts);
  // None, of the form that the facts declare.
  static RecordSet none(const Facts& facts);

  std::size_t size() const { return block().rows(); }
  Block block() const;
  std::unique_ptr<Source> source() const;  // on one thread; must not outlive the records
  void append(const RecordSet& other, std::size_t record);
  void append_null();  // a row like any other, which contributes nothing
  // Those at these places, in this order.
  RecordSet chosen(const std::vector<std::size_t>& places, const Facts& facts) const;

 private:
  std::variant<Table, Images> records_;
};

}  // namespace sotto::cli
