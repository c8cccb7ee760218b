from checker_case import CheckerCase, unittest
import check_columns

LONG = "x" * 101


class Columns(CheckerCase):
    def problems(self, text):
        self.write("src/sotto/core/a.cpp", text)
        return check_columns.check(self.root)

    def test_a_long_comment_is_refused(self):
        self.assertEqual(self.problems("int a;\n// " + LONG + "\n"), ["src/sotto/core/a.cpp:2: longer than 100 columns"])

    def test_columns_are_characters_not_bytes(self):
        self.assertEqual(self.problems("// " + "ε" * 97 + "\n"), [])

    def test_raw_strings_may_be_longer(self):
        self.assertEqual(self.problems('auto a = R"({' + LONG + '})";\n'), [])
        self.assertEqual(self.problems('auto a = R"x(\n' + LONG + '\n)x";\n'), [])

    def test_after_a_raw_string_the_rule_holds_again(self):
        self.assertEqual(len(self.problems('auto a = R"(\n)";\n// ' + LONG + "\n")), 1)


if __name__ == "__main__":
    unittest.main()
