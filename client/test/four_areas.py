"""A call of each area by the types that quicktype generates: what is answered must fit them. Only Python's own library."""

import base64
import json
import os
import urllib.request

from svc_types import Bundle, Patient, SDCAddendum, SDCNote, Session, SVCTopicDestinationStatusAnswer

BASIC = "Basic " + base64.b64encode(("root:" + os.environ["SVC_ROOT"]).encode()).decode()
WEBHOOK = "https://svc.example/StructureDefinition/svctopicdestination-webhook-at-least-once"


def call(method, path, body=None, authorization=BASIC):
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    if authorization is not None:
        headers["Authorization"] = authorization
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["SVC_URL"] + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def rpc(method, **params):
    return call("POST", "/rpc", {"method": "svc.sdc.addendum/" + method, "params": params})["result"]


user = {"resourceType": "User", "id": "py"}
call("PUT", "/User/py", {"userName": "py", "password": "a long password"})
call("PUT", "/Client/py", {"grant_types": ["password"]})
call("PUT", "/AccessPolicy/py", {"engine": "allow", "link": [user]})
login = {"grant_type": "password", "client_id": "py", "username": "py", "password": "a long password"}
bearer = "Bearer " + call("POST", "/auth/token", login, None)["access_token"]
found = call("GET", "/Session?user=User/py&active=true", authorization=bearer)["entry"]
sessions = [Session.from_dict(entry["resource"]) for entry in found]
assert [(session.active, session.user.id) for session in sessions] == [(True, "py")]

call("PUT", "/Patient/py", {"name": [{"family": "Rivera"}]})
document = {"resourceType": "SDCDocument", "id": "py"}
patient = {"resourceType": "Patient", "id": "py"}
call("PUT", "/SDCDocument/py", {"status": "completed", "patient": patient})
note = SDCNote.from_dict(rpc("add-note", target=document, user=user, text="From Python."))
addenda = [SDCAddendum.from_dict(one) for one in rpc("get-addendums", target=document)]
assert note.text == "From Python." and [one.id for one in addenda] == [note.id]

everything = call("GET", "/fhir/Patient/py/$everything")
assert Patient.from_dict(everything["entry"][0]["resource"]).name[0].family == "Rivera"
assert len(Bundle.from_dict(everything).entry) == 2

destination = {
    "meta": {"profile": [WEBHOOK]},
    "kind": "webhook-at-least-once",
    "topic": "https://clinic.example/topics/none",
    "parameter": [{"name": "endpoint", "valueUrl": "http://127.0.0.1:9/"}],
}
call("PUT", "/fhir/SvcTopicDestination/py", destination)
status = SVCTopicDestinationStatusAnswer.from_dict(call("GET", "/fhir/SvcTopicDestination/py/$status"))
assert {part.name.value: part.value_decimal for part in status.parameter}["messagesDelivered"] == 0
print("four areas: ok")
