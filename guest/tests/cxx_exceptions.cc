// SPDX-License-Identifier: MIT
// Exceptions of C++: types, destructors on the way, nesting, pointers to them,
// and their passage through functions of C.
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

namespace
{

int alive;

struct Counted {
    Counted()
    {
        alive++;
    }
    Counted(const Counted &)
    {
        alive++;
    }
    ~Counted()
    {
        alive--;
    }
};

struct Base {
    virtual ~Base() = default;
    virtual int
    number() const
    {
        return 1;
    }
};

struct Other {
    virtual ~Other() = default;
    int filler = 7;
};

struct Derived : Other, Base {
    int
    number() const override
    {
        return 2;
    }
};

int
thrown(int kind)
{
    Counted here;

    switch (kind) {
    case 0:
        throw 42;
    case 1:
        throw std::string("text");
    case 2:
        throw Derived();
    case 3:
        throw std::out_of_range("far");
    case 4:
        throw Counted();
    default:
        return kind;
    }
}

int
caught(int kind)
{
    try {
        return thrown(kind);
    } catch (int i) {
        return i;
    } catch (const std::string &s) {
        return static_cast<int>(s.size()) + 100;
    } catch (const Base &b) {
        return b.number() + 200;
    } catch (const std::logic_error &e) {
        return std::string(e.what()) == "far" ? 300 : -1;
    } catch (...) {
        return 400;
    }
}

void
handlers_are_chosen_by_type()
{
    CHECK(caught(0) == 42);
    CHECK(caught(1) == 104);
    CHECK(caught(2) == 202);
    CHECK(caught(3) == 300);
    CHECK(caught(4) == 400);
    CHECK(caught(9) == 9);
    CHECK(alive == 0);
}

void
destructors_run_on_the_way()
{
    try {
        std::vector<Counted> many(10);
        auto one = std::make_unique<Counted>();
        CHECK(alive == 11);
        thrown(0);
    } catch (int) {
        CHECK(alive == 0);
    }
}

// The exception that is handled is the innermost one, and the outer one is the
// current one again afterwards.
void
exceptions_nest()
{
    try {
        try {
            throw std::runtime_error("inner");
        } catch (...) {
            try {
                throw 5;
            } catch (int i) {
                CHECK(i == 5);
            }
            std::throw_with_nested(std::runtime_error("outer"));
        }
    } catch (const std::exception &outer) {
        CHECK(std::string(outer.what()) == "outer");
        try {
            std::rethrow_if_nested(outer);
            CHECK(false);
        } catch (const std::exception &inner) {
            CHECK(std::string(inner.what()) == "inner");
        }
    }
    CHECK(std::uncaught_exceptions() == 0);
}

void
an_exception_can_be_kept()
{
    std::exception_ptr kept;

    try {
        throw std::runtime_error("kept");
    } catch (...) {
        kept = std::current_exception();
    }
    for (int i = 0; i < 3; i++) {
        try {
            std::rethrow_exception(kept);
        } catch (const std::runtime_error &e) {
            CHECK(std::string(e.what()) == "kept");
        }
    }
}

int
compare(const void *a, const void *b)
{
    if (*static_cast<const int *>(a) == 3)
        throw 3;
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

void
they_pass_through_c()
{
    int numbers[] = {5, 3, 1};

    try {
        Counted local;
        qsort(numbers, 3, sizeof numbers[0], compare);
        CHECK(numbers[0] == 1);
    } catch (int i) {
        CHECK(i == 3 && alive == 0);
    }
}

void
a_request_for_too_much_memory_throws()
{
    volatile size_t huge = SIZE_MAX / 2;

    try {
        char *volatile block = new char[huge];
        delete[] block;
        CHECK(false);
    } catch (const std::bad_alloc &) {
    }
    try {
        std::vector<int>().at(3);
        CHECK(false);
    } catch (const std::out_of_range &) {
    }
}

} // namespace

int
main()
{
    handlers_are_chosen_by_type();
    destructors_run_on_the_way();
    exceptions_nest();
    an_exception_can_be_kept();
    they_pass_through_c();
    a_request_for_too_much_memory_throws();
}
