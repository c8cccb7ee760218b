// Family: one way to learn, as data: its kinds, methods and options, and three functions.
//
// A family is one folder with one function that returns its Family, and one line in the list of
// families. Commands, help, completion, documents, JSON and bindings are made from the list; none
// of them names a family (CONTRIBUTING.md, "How to add a family").
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/option.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/learning/facts.hpp"
#include "sotto/learning/model.hpp"
#include "sotto/learning/training_plan.hpp"
#include "sotto/mechanisms/budget.hpp"

namespace sotto {

// What `model` names: "logistic", "svm", … A kind is of one family.
struct Kind {
  std::string name;
  std::vector<Task> tasks;           // several: the target decides
  std::string help;                  // what it is, in a few words
  std::vector<Option> options = {};  // beside those of the family
};

// What `method` names: a route to privacy. "auto", where there is one, chooses by public facts;
// "none" is NOT PRIVATE.
struct Method {
  std::string name;
  std::string help;
  // The declared options that it knows; others are refused. Not used for "auto".
  std::vector<std::string> options = {};
};

// What is asked for, apart from the facts about the data.
struct TrainingRequest {
  std::string kind;
  std::string method = "auto";
  std::optional<Budget> budget = {};  // none for the method "none"
  std::optional<double> delta = {};   // at which ε is stated
  OptionValues options = {};          // declared by options_of(family, kind)
  // Public: how far each coordinate of an encoded row spreads. A family that takes_spreads shrinks
  // the effect of a usual step along each coordinate alike. Empty: the effect of a step of 1.
  std::vector<double> spreads = {};
};

// The public facts by which a family is chosen for a table.
struct Situation {
  double signal = 0;  // records for each unit of noise: n·μ, or n·ε of a pure budget
  std::size_t columns = 0;
  std::size_t classes = 0;  // 0: a number
  bool pure = false;
};
// How well a family expects to do, from 0 (cannot) to 1, and why.
struct Merit {
  double value = 0;
  std::string reason = {};
};

struct Family {
  std::string name;   // in certificates: "linear"
  std::string title;  // in help: "Linear models"
  std::vector<Kind> kinds;
  std::vector<Method> methods;  // the first is the default
  std::vector<Option> options = {};
  std::string host = "sotto";  // the executable that has the functions below
  bool reads_images = false;   // also folders of images
  bool resumable = false;      // writes checkpoints
  bool takes_spreads = false;  // of a request by the method "none"

  // The schema as this family wants it encoded: settles what it leaves open, such as the basis.
  std::function<Schema(Schema schema, const TrainingRequest& request)> prepare = nullptr;
  // From public facts only. Throws InvalidArgument, Unsupported or DataError.
  std::function<std::unique_ptr<TrainingPlan>(const Facts& facts, const TrainingRequest& request)>
      plan = nullptr;
  // The files are those that the certificate names, whatever a stranger wrote into them. Completes
  // the facts where the files know more, such as the size of images. Throws DataError.
  std::function<std::unique_ptr<Model>(const Files& files, Facts& facts)> load = nullptr;
  // For the kind "auto" (suggestion.hpp). None: never suggested.
  std::function<Merit(const Situation& situation)> merit = nullptr;
};

// Null when there is none.
const Kind* find_kind(const Family& family, std::string_view kind);
const Method* find_method(const Family& family, std::string_view method);
const Family* find_family(std::span<const Family> families, std::string_view name);
const Family* family_of_kind(std::span<const Family> families, std::string_view kind);

// Those of the family and those of the kind. Throws InvalidArgument for another family's kind.
std::vector<Option> options_of(const Family& family, std::string_view kind);

// A request by the default method, with options as a user would type them. The δ is that of the
// budget.
TrainingRequest make_request(const Family& family, std::string kind, const Budget& budget,
                             OptionValues::Raw options = {});

// Refuses options that the method does not know, and says which do.
void check_method_options(const Family& family, const std::string& method,
                          const OptionValues& options);

// The facts about a table for this request: the schema as the family wants it. A model that groups
// or transforms records has no target: a column that is declared as one is left out.
Facts facts_for(const Family& family, Schema schema, const TrainingRequest& request);
// Checks kind, method and options against the declaration, then plans.
std::unique_ptr<TrainingPlan> plan_training(const Family& family, const Facts& facts,
                                            const TrainingRequest& request);

// The budget of a request that must have one. Throws InvalidArgument.
const Budget& required_budget(const TrainingRequest& request);

}  // namespace sotto
