"""code.* in sessions: contexts last as long as their worker."""
import pytest
from supervisor import Error


@pytest.fixture
def session(make):
    return make(fake=False).client().create()


def text(session, code, **params):
    return session.call("code.run", code=code, **params)["results"][0]["data"]["text/plain"]


def test_cells_keep_their_state_and_their_files_are_durable(session):
    session.call("code.run", code="x = 5\nopen('/home/user/f', 'w').write('one');")
    assert text(session, "x") == "5"
    session.call("session.pause")
    assert session.run("cat f") == "one"  # by another worker
    answer = session.call("code.run", code="x")
    assert answer["error"]["name"] == "NameError" and answer["executionCount"] == 1


def test_contexts_of_a_paused_session_are_gone(session):
    context = session.call("code.create")["contextId"]
    assert text(session, "1 + 1", contextId=context) == "2"
    session.call("session.pause")
    session.call("session.resume")
    with pytest.raises(Error, match="no such context"):
        session.call("code.run", code="1", contextId=context)
    assert session.call("code.list") == {"contexts": []}


def test_output_is_streamed_and_cells_are_interrupted(session):
    number = session.ask("code.run", code="print('ready')\nwhile True: pass", stream=True)
    while not session.client.notes:
        message = session.client.line()
        assert message["method"] == "output"
        session.client.notes.append(message["params"])
    session.call("code.interrupt")
    answer = session.client.wait(number)
    assert (answer["stdout"], answer["error"]["name"]) == ("ready\n", "KeyboardInterrupt")
