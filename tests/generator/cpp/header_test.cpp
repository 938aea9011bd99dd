// SPDX-License-Identifier: Apache-2.0
//
// The typed header as a text.
#include <cstdlib>
#include <locale>

#include "../loaded.hpp"

namespace meterbank::generator {
namespace {

using test::contains;
using test::manifest_of;
using test::manifest_of_file;
using test::manifest_with;

std::string page_of(const Manifest& manifest, const OutputOptions& options = {}) {
  const auto page = cpp_header(manifest, options);
  EXPECT_TRUE(page) << page.error().message();
  return page.value_or("");
}

// With METERBANK_WRITE_GOLDEN in the environment the page is written, to be read before it is
// committed.
TEST(TypedHeader, ReadsLikeTheGoldenPage) {
  Manifest manifest = manifest_of_file(METERBANK_ORDERS);
  manifest.hash = 0x0123456789abcdef;  // a comment that changes in there changes nothing here
  const std::string page = page_of(manifest);
  const std::string path = METERBANK_CPP_TESTS "/orders.hpp.golden";
  if (std::getenv("METERBANK_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << page;
  }
  EXPECT_EQ(page, test::text_of_file(path));
}

// A page is a function of the manifest's text: not of its folder, nor of a locale.
TEST(TypedHeader, IsTheSameAgainFromAnyFolderInAnyLocale) {
  struct Commas : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\1"; }
  };
  const std::string path = METERBANK_CPP_TESTS "/manifests/forms.toml";
  const std::string text = test::text_of_file(path);
  const std::string page = page_of(manifest_of(text, path));
  EXPECT_EQ(page, page_of(manifest_of(text, path)));
  EXPECT_EQ(page, page_of(manifest_of(text, "../elsewhere/forms.toml")));
  const std::locale usual = std::locale::global(std::locale(std::locale(), new Commas));
  EXPECT_EQ(page, page_of(manifest_of(text, path)));
  std::locale::global(usual);
  EXPECT_NE(page, page_of(manifest_of(text + "\n", path)));  // at least by its hash
}

TEST(TypedHeader, SaysOnlyWhatDiffersFromTheDefaults) {
  const std::string page = page_of(manifest_with("scale = 0\ndetail = \"standard\"\n"));
  EXPECT_TRUE(contains(page, R"(    meterbank::CounterSpec{
        .id = 1,
        .name = "One",
        .symbol = "one",
    },
)"));
  const std::string more =
      page_of(manifest_with("detail = \"advanced\"\nattributes = [\"no_digit_grouping\"]\n"));
  EXPECT_TRUE(contains(more, R"(
        // advanced
        .detail = 200,
        // no_digit_grouping
        .attributes = 4,
)"));
}

TEST(TypedHeader, SaysThatAGuidWasDerived) {
  constexpr std::string_view kRemark = "GUID is derived";
  const std::string derived = page_of(manifest_with(""));
  EXPECT_TRUE(contains(derived, kRemark));
  EXPECT_TRUE(contains(derived, Guid::from_name("p", "Set").text()));
  EXPECT_FALSE(contains(page_of(manifest_of(R"(
[provider]
name = "p"
[[counterset]]
name = "Set"
guid = "5f0c1e2a-3d6b-4a57-9a51-6c1d0e8f7b42"
[[counterset.counter]]
id = 1
name = "One"
)")),
                        kRemark));
}

TEST(TypedHeader, NamesNamespacesAfterWhoIsThere) {
  const auto page_for = [](const std::string& provider, const OutputOptions& options = {}) {
    return page_of(manifest_of("[provider]\n" + provider +
                               "\n[[counterset]]\nname = \"Set\"\n[[counterset.counter]]\n"
                               "id = 1\nname = \"One\"\n"),
                   options);
  };
  EXPECT_TRUE(contains(page_for("name = \"A Service\""), "namespace a_service {"));
  EXPECT_TRUE(contains(page_for("name = \"x\"\nsymbol = \"Service\""), "namespace Service {"));
  EXPECT_TRUE(contains(page_for("name = \"std\""), "namespace std_counters {"));
  EXPECT_TRUE(contains(page_for("name = \"unix\""), "namespace unix_counters {"));
  OutputOptions deep;
  deep.name_space = "mine::deep";
  EXPECT_TRUE(contains(page_for("name = \"x\"", deep), "}  // namespace mine::deep"));
}

TEST(TypedHeader, TellsNamesApartThatWouldBeTheSame) {
  const std::string page = page_of(manifest_of_file(METERBANK_CPP_TESTS "/manifests/names.toml"));
  for (const std::string_view name :
       {"  kA1,\n", "  kA1_2,\n", "  kAverageBase,\n", "  kAverageBase2,\n", "class Class {",
        "class ClassUpdate {", "class ClassUpdate_2 {", "void add_average_base_2(",
        "namespace linux_counters {"}) {
    EXPECT_TRUE(contains(page, name)) << name;
  }
}

TEST(TypedHeader, EscapesWhatAManifestSays) {
  const std::string page = page_of(manifest_with(
      R"(help = "\"quoted\" \\ and ?\u003F= and \u202E turned"
unit = "{\"}"
)"));
  EXPECT_TRUE(contains(page, R"(.help = "\"quoted\" \\ and ?\?= and \u202e turned")")) << page;
  EXPECT_TRUE(contains(page, R"(.unit = "{\"}")"));
  EXPECT_TRUE(contains(page, "  // \"quoted\" \\ and ?\?= and turned Unit: "));
}

TEST(TypedHeader, EndsEachCommentWithItsLine) {
  const std::string page = page_of(manifest_with("help = 'C:\\'\n"));
  EXPECT_TRUE(contains(page, "  // C:\\.\n")) << page;
  EXPECT_TRUE(contains(page, R"(.help = "C:\\",)"));
}

TEST(TypedHeader, HasCallbacksWhereRowsAreNumbers) {
  EXPECT_TRUE(contains(page_of(manifest_with("")), "meterbank::Callback"));
  EXPECT_FALSE(
      contains(page_of(manifest_with("type = \"text\"\ntext_bytes = 8\n")), "meterbank::Callback"));
}

}  // namespace
}  // namespace meterbank::generator
