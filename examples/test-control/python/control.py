"""A client of k8ts test control and of the cluster that it controls, with the standard library only."""
import json
import os
import ssl
import tempfile
import urllib.error
import urllib.request

DEFAULT_FILE = "~/.local/share/k8ts/default/run/test-control.json"


class Rejected(Exception):
    """An answer other than 2xx."""

    def __init__(self, code, body):
        super().__init__(f"{code}: {body.get('message')} {body.get('remedy', '')}")
        self.code = code
        self.body = body


def send(method, url, body, headers, context=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request, context=context) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise Rejected(error.code, json.load(error)) from None


class TestControl:
    def __init__(self, cluster="main"):
        with open(os.path.expanduser(os.environ.get("K8TS_TEST_CONTROL", DEFAULT_FILE))) as file:
            access = json.load(file)
        self.url = access["url"]
        self.headers = {"Authorization": f"Bearer {access['token']}"}
        self.path = f"/v1/clusters/{cluster}"
        self.cluster = self.call("GET", self.path)
        self.tls = tls_of(self.cluster)

    def call(self, method, path, body=None):
        return send(method, self.url + path, body, self.headers)

    def reset(self, snapshot="empty"):
        return self.call("POST", f"{self.path}/reset", {"snapshot": snapshot})

    def snapshot(self, name):
        return self.call("PUT", f"/v1/snapshots/{name}")

    def settle(self):
        return self.call("POST", f"{self.path}/time/settle")

    def advance(self, duration):
        return self.call("POST", f"{self.path}/time/advance", {"duration": duration})

    def cut_off(self, node):
        return self.call("POST", f"{self.path}/nodes/{node}/cut-off")

    def add_fault(self, **fault):
        return self.call("POST", f"{self.path}/faults", fault)

    def kube(self, method, path, body=None):
        """A request to the API server, as the administrator."""
        return send(method, self.cluster["server"] + path, body, {}, self.tls)


def tls_of(cluster):
    context = ssl.create_default_context(cadata=cluster["certificateAuthority"])
    # Python loads client certificates from files only.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(cluster["clientCertificate"] + cluster["clientKey"])
        file.flush()
        context.load_cert_chain(file.name)
    return context
