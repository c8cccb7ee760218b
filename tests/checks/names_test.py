from checker_case import CheckerCase, unittest
import check_names

HEADER = "namespace sotto {\n\n%s Grid {\n};\n\n}  // namespace sotto\n"


class Names(CheckerCase):
    def test_one_name_in_two_modules_is_refused(self):
        for first, second in (("class", "class"), ("struct", "class"), ("enum class", "struct")):
            self.write("src/sotto/accounting/grid.hpp", HEADER % first)
            self.write("src/sotto/models/grid.hpp", HEADER % second)
            self.assertEqual(check_names.check(self.root), [
                "src/sotto/models/grid.hpp:3: sotto::Grid is also defined at src/sotto/accounting/grid.hpp:3"])

    def test_bases_templates_and_braces_on_the_next_line_do_not_hide_a_name(self):
        self.write("src/sotto/accounting/grid.hpp", HEADER % "class")
        for text in ("class Grid final : public Base {\n};\n", "template <class T> class Grid {\n};\n",
                     "class Grid\n    : public VeryLongBase {\n};\n"):
            self.write("src/sotto/models/grid.hpp", "namespace sotto {\n" + text + "}  // namespace sotto\n")
            self.assertEqual(len(check_names.check(self.root)), 1, text)

    def test_other_and_unnamed_namespaces_and_declarations_are_free(self):
        self.write("src/sotto/accounting/grid.hpp", HEADER % "class")
        self.write("src/sotto/models/grid.hpp", "namespace sotto::deep {\nclass Grid {\n};\n}  // namespace sotto::deep\n")
        self.write("src/sotto/models/user.hpp", "namespace sotto {\nclass Grid;\n}  // namespace sotto\n")
        self.write("src/sotto/models/a.cpp", "namespace sotto {\nnamespace {\n\nstruct Grid {\n};\n\n}  // namespace\n}  // namespace sotto\n")
        self.assertEqual(check_names.check(self.root), [])


if __name__ == "__main__":
    unittest.main()
