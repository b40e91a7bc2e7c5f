/// Options declared once. A plain struct lists its fields in `visit`; defaults, bounds, help, JSON,
/// command-line flags and validation all walk that list:
///
///     struct TrainOptions {
///       int64_t steps = 4000;
///       void visit(OptionVisitor& v) { v("steps", steps, at_least(0), "optimizer steps"); }
///     };
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace dre {

/// The values a number may take.
struct Range {
  double low, high;
  bool open_low = false;   ///< `low` itself is not allowed
  bool open_high = false;  ///< `high` itself is not allowed

  bool contains(double value) const;
  std::string describe() const;  ///< "at least 1", "between 0 and 1", "more than 0"
};

Range positive();
Range at_least(double low);
Range between(double low, double high);
/// low <= value < high, as for decay rates.
Range below(double low, double high);

/// The names a string may take; empty means free text.
using Names = std::vector<std::string>;

class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  virtual void operator()(const char* name, bool& value, const char* help) = 0;
  virtual void operator()(const char* name, int64_t& value, Range range, const char* help) = 0;
  virtual void operator()(const char* name, double& value, Range range, const char* help) = 0;
  virtual void operator()(const char* name, std::string& value, const Names& names,
                          const char* help) = 0;
  virtual void operator()(const char* name, std::vector<std::string>& value, const char* help) = 0;
};

/// A visitor that only reads: calls `field(name, json value, help)` semantics through to_json.
class ToJson final : public OptionVisitor {
 public:
  explicit ToJson(nlohmann::json& out) : out_(out) {}
  void operator()(const char* name, bool& value, const char* help) override;
  void operator()(const char* name, int64_t& value, Range range, const char* help) override;
  void operator()(const char* name, double& value, Range range, const char* help) override;
  void operator()(const char* name, std::string& value, const Names& names,
                  const char* help) override;
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override;

 private:
  nlohmann::json& out_;
};

/// Sets the fields that `in` names and checks their bounds. Remembers which names exist, so that
/// the caller can refuse unknown ones with `reject_unknown`.
class FromJson final : public OptionVisitor {
 public:
  explicit FromJson(const nlohmann::json& in) : in_(in) {}
  void operator()(const char* name, bool& value, const char* help) override;
  void operator()(const char* name, int64_t& value, Range range, const char* help) override;
  void operator()(const char* name, double& value, Range range, const char* help) override;
  void operator()(const char* name, std::string& value, const Names& names,
                  const char* help) override;
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override;

  /// Throws when `in` has a name that no visited field has; the message lists the known ones.
  void reject_unknown(const std::string& where) const;

 private:
  const nlohmann::json* find(const char* name);
  const nlohmann::json& in_;
  Names known_;
};

/// Throws a usage error that names the first field out of its bounds.
class Validate final : public OptionVisitor {
 public:
  void operator()(const char* name, bool& value, const char* help) override;
  void operator()(const char* name, int64_t& value, Range range, const char* help) override;
  void operator()(const char* name, double& value, Range range, const char* help) override;
  void operator()(const char* name, std::string& value, const Names& names,
                  const char* help) override;
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override;
};

/// Resolved options as a JSON object.
template <class Options>
nlohmann::json to_json(Options options);

/// Options from a JSON object; fields it does not name keep their values, unknown names are
/// refused.
template <class Options>
void from_json(const nlohmann::json& in, Options& options, const std::string& where);

template <class Options>
void validate(Options options) {
  Validate visitor;
  options.visit(visitor);
}

}  // namespace dre

#include <nlohmann/json.hpp>

namespace dre {

template <class Options>
nlohmann::json to_json(Options options) {
  nlohmann::json out = nlohmann::json::object();
  ToJson visitor(out);
  options.visit(visitor);
  return out;
}

template <class Options>
void from_json(const nlohmann::json& in, Options& options, const std::string& where) {
  FromJson visitor(in);
  options.visit(visitor);
  visitor.reject_unknown(where);
}

}  // namespace dre
