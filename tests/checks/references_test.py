from checker_case import CheckerCase, unittest
import check_references

ENTRY = "@book{DR14,\n  author = {A}, title = {B}, year = {2014}\n}\n"
HEADER = "// A sampler.\n//\n// What       x\n// Guarantee  x\n// Method     [DR14, Alg. 1]\n// Numerics   x\n// Reference  x\n#pragma once\n"


class References(CheckerCase):
    def setUp(self):
        super().setUp()
        self.write("docs/references.bib", ENTRY)

    def test_complete_header_with_a_known_key_is_fine(self):
        self.write("src/sotto/noise/a.hpp", HEADER)
        self.assertEqual(check_references.check(self.root), [])

    def test_unknown_key_is_refused_with_its_line(self):
        self.write("src/sotto/core/a.hpp", "#pragma once\n// see [XY99, Thm. 2]\n")
        self.assertEqual(check_references.check(self.root), ["src/sotto/core/a.hpp:2: [XY99] is not in docs/references.bib"])

    def test_every_key_of_a_list_is_looked_up(self):
        self.write("docs/math/a.md", "as in [DR14; XY99] and [AB12, DR14]\n")
        self.assertEqual(len(check_references.check(self.root)), 2)

    def test_code_is_not_a_citation(self):
        self.write("src/sotto/core/a.cpp", "int x = table[K10]; [[nodiscard]] int f();\n")
        self.assertEqual(check_references.check(self.root), [])

    def test_missing_part_is_refused(self):
        self.write("src/sotto/noise/a.hpp", HEADER.replace("// Numerics", "// Numbers"))
        self.assertEqual(check_references.check(self.root), ["src/sotto/noise/a.hpp:1: the opening comment has no Numerics"])

    def test_parts_count_only_in_the_opening_comment(self):
        self.write("src/sotto/noise/a.hpp", "#pragma once\n" + HEADER)
        self.assertEqual(check_references.check(self.root), [
            "src/sotto/noise/a.hpp:1: the opening comment has no What, Guarantee, Method, Numerics, Reference"])

    def test_a_first_sentence_may_say_what(self):
        body = HEADER.replace("// What       x\n", "")
        self.write("src/sotto/noise/a.hpp", body.replace("// A sampler.", "// Discrete noise: integers with a given law."))
        self.assertEqual(check_references.check(self.root), [])
        self.write("src/sotto/noise/a.hpp", body)
        self.assertEqual(check_references.check(self.root), ["src/sotto/noise/a.hpp:1: the opening comment has no What"])

    def test_detail_headers_are_exempt(self):
        self.write("src/sotto/noise/detail/a.hpp", "#pragma once\n")
        self.write("src/sotto/noise/b.hpp", "// Detail: tables of a.hpp.\n#pragma once\n")
        self.assertEqual(check_references.check(self.root), [])

    def test_a_document_that_is_named_or_linked_must_exist(self):
        self.write("docs/math/a.md", "[there](../b.md), [gone](c.md), [web](https://example.org/x.md), [here](#top)\n")
        self.write("docs/b.md", "see docs/math/a.md\n")
        self.write("src/sotto/core/a.hpp", "// Proof: docs/math/d.md.\n")
        self.assertEqual(check_references.check(self.root), [
            "docs/math/a.md: docs/math/c.md does not exist", "src/sotto/core/a.hpp: docs/math/d.md does not exist"])

    def test_the_index_links_every_document(self):
        self.write("docs/a.md", "words\n")
        self.write("docs/math/b.md", "words\n")
        self.write("docs/index.md", "[a](a.md)\n")
        self.assertEqual(check_references.check(self.root), ["docs/math/b.md: docs/index.md does not link it"])

    def test_bibliography_itself_is_checked(self):
        self.write("docs/references.bib", ENTRY + ENTRY + "@misc{Z01,\n  title = {C}\n}\n")
        self.assertEqual(check_references.check(self.root), [
            "docs/references.bib: DR14 stands twice", "docs/references.bib: Z01 has no author",
            "docs/references.bib: Z01 has no year"])


if __name__ == "__main__":
    unittest.main()
