// SPDX-License-Identifier: MIT
// The library of C++: type information, streams, files, containers, regular
// expressions, and static objects.
#include <algorithm>
#include <any>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include "check.h"

namespace
{

struct Shape {
    virtual ~Shape() = default;
};
struct Round {
    virtual ~Round() = default;
};
struct Circle : Shape, Round {
};
struct Square : Shape {
};

void
types_are_known_at_run_time()
{
    Circle circle;
    Square square;
    Shape *shapes[] = {&circle, &square};

    CHECK(typeid(*shapes[0]) == typeid(Circle));
    CHECK(typeid(*shapes[1]) != typeid(Circle));
    CHECK(dynamic_cast<Round *>(shapes[0]) == static_cast<Round *>(&circle));
    CHECK(dynamic_cast<Round *>(shapes[1]) == nullptr);
    try {
        (void)dynamic_cast<Round &>(*shapes[1]);
        CHECK(false);
    } catch (const std::bad_cast &) {
    }
    std::any any = 5;
    CHECK(std::any_cast<int>(any) == 5);
    CHECK(std::any_cast<long>(&any) == nullptr);
}

void
streams_format_and_parse()
{
    std::ostringstream out;
    out << std::setw(6) << std::setfill('*') << 42 << ' ' << std::hex << 255
        << ' ' << std::fixed << std::setprecision(3) << 3.14159 << ' '
        << std::boolalpha << true;
    CHECK(out.str() == "****42 ff 3.142 true");

    std::istringstream in("12 3.5 word\nrest of line");
    int i;
    double d;
    std::string word, line;
    in >> i >> d >> word;
    std::getline(in, line);
    std::getline(in, line);
    CHECK(i == 12 && d == 3.5 && word == "word" && line == "rest of line");
    CHECK(!(in >> i) && in.eof());
}

void
files_are_written_and_read()
{
    namespace fs = std::filesystem;
    fs::path folder = fs::current_path() / "cxx_library";

    fs::create_directories(folder / "a/b");
    std::ofstream(folder / "a/b/file") << "one\ntwo\n";
    std::ifstream in(folder / "a/b/file");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    CHECK(text == "one\ntwo\n");
    int entries = 0;
    for (auto &entry : fs::recursive_directory_iterator(folder))
        entries += entry.exists();
    CHECK(entries == 3);
    CHECK(fs::file_size(folder / "a/b/file") == 8);
    CHECK(fs::remove_all(folder) == 4);
    std::error_code error;
    CHECK(!fs::exists(folder, error));
}

void
containers_and_algorithms_work()
{
    std::vector<int> numbers(1000);
    std::mt19937 random(1);
    std::generate(numbers.begin(), numbers.end(), random);
    std::sort(numbers.begin(), numbers.end());
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    std::map<std::string, int> tree;
    std::unordered_map<std::string, int> hash;
    for (int i = 0; i < 1000; i++)
        tree[std::to_string(i % 100)] += hash[std::to_string(i % 10)]++;
    CHECK(tree.size() == 100 && hash.size() == 10 && hash["7"] == 100);
    std::function<int(int)> factorial = [&](int n) {
        return n < 2 ? 1 : n * factorial(n - 1);
    };
    CHECK(factorial(10) == 3628800);
}

void
regular_expressions_and_clocks_work()
{
    std::smatch match;
    std::string text = "name = value";
    CHECK(std::regex_match(text, match, std::regex("(\\w+)\\s*=\\s*(\\w+)")));
    CHECK(match[1] == "name" && match[2] == "value");
    try {
        std::regex broken("(");
        CHECK(false);
    } catch (const std::regex_error &) {
    }
    auto start = std::chrono::steady_clock::now();
    CHECK(std::chrono::steady_clock::now() >= start);
    CHECK(std::random_device()() != std::random_device()());
}

// Made before main, destroyed after it in the reverse order.
struct Static {
    ~Static()
    {
        if (made != 2)
            _Exit(1);
    }
    static int made;
    int number = ++made;
};
int Static::made;
Static first, second;

} // namespace

int
main()
{
    CHECK(first.number == 1 && second.number == 2);
    types_are_known_at_run_time();
    streams_format_and_parse();
    files_are_written_and_read();
    containers_and_algorithms_work();
    regular_expressions_and_clocks_work();
    std::cout << "done" << std::endl;
    CHECK(std::cout.good());
}
