// SPDX-License-Identifier: MIT
// Threads of C++: locks, conditions, futures, thread-local objects, and
// exceptions that several threads throw at the same time.
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace
{

constexpr int THREADS = 4;

template <typename Work>
void
in_threads(Work work)
{
    std::vector<std::thread> threads;

    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
}

void
locks_and_atomics_count()
{
    std::mutex mutex;
    std::atomic<int> atomic{0};
    int plain = 0;

    in_threads([&](int) {
        for (int i = 0; i < 20000; i++) {
            atomic++;
            std::lock_guard lock(mutex);
            plain++;
        }
    });
    CHECK(plain == 20000 * THREADS && atomic == plain);
}

void
a_queue_hands_over()
{
    std::queue<int> queue;
    std::mutex mutex;
    std::condition_variable filled;
    long sum = 0;

    std::thread consumer([&] {
        for (int i = 0; i < 5000; i++) {
            std::unique_lock lock(mutex);
            filled.wait(lock, [&] { return !queue.empty(); });
            sum += queue.front();
            queue.pop();
        }
    });
    for (int i = 0; i < 5000; i++) {
        std::lock_guard lock(mutex);
        queue.push(i);
        filled.notify_one();
    }
    consumer.join();
    CHECK(sum == 5000L * 4999 / 2);
}

void
futures_bring_results_and_exceptions()
{
    auto result = std::async(std::launch::async, [] { return 6 * 7; });
    auto failure = std::async(std::launch::async, []() -> int {
        throw std::runtime_error("from the thread");
    });

    CHECK(result.get() == 42);
    try {
        failure.get();
        CHECK(false);
    } catch (const std::runtime_error &e) {
        CHECK(std::string(e.what()) == "from the thread");
    }
}

std::atomic<int> destroyed;
struct Local {
    ~Local()
    {
        destroyed++;
    }
    int number = 0;
};
thread_local Local local;

void
each_thread_has_its_own_objects()
{
    local.number = -1;
    in_threads([](int i) {
        for (int n = 0; n < 1000; n++) {
            CHECK(local.number == n * i);
            local.number += i;
            std::this_thread::yield();
        }
    });
    CHECK(local.number == -1);
    CHECK(destroyed == THREADS);
}

// One handler for each type: a thread whose exception were taken for another's
// would find the wrong one.
int
handled(int kind)
{
    try {
        switch (kind) {
        case 0:
            throw 1;
        case 1:
            throw 'c';
        case 2:
            throw 1.5;
        default:
            throw std::string("s");
        }
    } catch (int) {
        return 0;
    } catch (char) {
        return 1;
    } catch (double) {
        return 2;
    } catch (const std::string &) {
        return 3;
    }
}

void
exceptions_of_threads_are_apart()
{
    in_threads([](int i) {
        for (int n = 0; n < 50000; n++)
            CHECK(handled(i) == i);
    });
}

void
waiting_on_an_atomic_ends()
{
    std::atomic<int> stage{0};
    std::counting_semaphore<8> semaphore(0);
    std::shared_mutex shared;
    std::once_flag once;
    int calls = 0;

    std::thread other([&] {
        stage.wait(0);
        std::shared_lock lock(shared);
        semaphore.release(2);
    });
    stage = 1;
    stage.notify_all();
    semaphore.acquire();
    semaphore.acquire();
    other.join();
    in_threads([&](int) { std::call_once(once, [&] { calls++; }); });
    CHECK(calls == 1);
}

} // namespace

int
main()
{
    locks_and_atomics_count();
    a_queue_hands_over();
    futures_bring_results_and_exceptions();
    each_thread_has_its_own_objects();
    exceptions_of_threads_are_apart();
    waiting_on_an_atomic_ends();
    CHECK(std::thread::hardware_concurrency() > 0);
}
