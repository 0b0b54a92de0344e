import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { parseYaml } from "../../api/machinery/codec/yaml.ts";
import { withEntry, withoutEntry } from "./merge-kubeconfig.ts";

const ENTRY = { context: "k8ts", server: "https://127.0.0.1:6443", authority: "CA", certificate: "CERT", key: "KEY" };

const OTHERS = `# work
apiVersion: v1
kind: Config
preferences: {}
clusters:
- cluster:
    server: https://prod # careful
  name: prod
users:
- name: prod
  user:
    token: secret
contexts:
- context:
    cluster: prod
    user: prod
  name: prod
current-context: prod
`;

const value = (text: string) => parseYaml(new TextEncoder().encode(text)).value;
const base64 = (text: string) => btoa(text);

test("a new file has the entry, and it is the current one", () => {
  deepEqual(value(withEntry("", ENTRY)), {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "k8ts", cluster: { server: ENTRY.server, "certificate-authority-data": base64("CA") } }],
    users: [{ name: "k8ts", user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") } }],
    contexts: [{ name: "k8ts", context: { cluster: "k8ts", user: "k8ts" } }],
    "current-context": "k8ts",
  });
});

test("what others have written stays, and taking the entry out again leaves it as it was, with no current context", () => {
  const merged = withEntry(OTHERS, ENTRY);
  equal(merged.includes("# careful"), true);

  equal(withoutEntry(merged, ENTRY), OTHERS.replace("current-context: prod", 'current-context: ""'));
});

test("another current context stays when the entry is taken out", () => {
  const merged = withEntry(OTHERS, ENTRY).replace("current-context: k8ts", "current-context: prod");
  equal(withoutEntry(merged, ENTRY), OTHERS);
});

test("a second start replaces the entry and keeps the namespace that the user chose", () => {
  const chosen = withEntry("", ENTRY).replace("user: k8ts\n", "user: k8ts\n    namespace: web\n");
  const { contexts, clusters } = value(withEntry(chosen, { ...ENTRY, server: "https://127.0.0.1:7" })) as {
    contexts: object;
    clusters: object[];
  };
  deepEqual(contexts, [{ name: "k8ts", context: { cluster: "k8ts", user: "k8ts", namespace: "web" } }]);
  equal(clusters.length, 1);
});

test("an entry of the same name that leads to another cluster is not taken out, and neither is one that is not there", () => {
  equal(withoutEntry(withEntry(OTHERS, { ...ENTRY, authority: "OTHER" }), ENTRY), undefined);
  equal(withoutEntry(OTHERS, ENTRY), undefined);
});

test("a text that is not understood, or says that it is something else, is refused", () => {
  throws(() => withEntry("clusters: [", ENTRY), /line 1/);
  throws(() => withEntry("apiVersion: v1\nkind: List\nitems: []\n", ENTRY), /^YamlError: its kind must be "Config", is "List"$/);
  throws(() => withEntry("apiVersion: apps/v1\nkind: Config\n", ENTRY), /^YamlError: its apiVersion must be "v1", is "apps\/v1"$/);
});

/** Has a cluster and a user of our name, which a context of another name uses. */
const TAKEN = `apiVersion: v1
kind: Config
clusters:
# of the office
- cluster:
    server: https://other:1 # careful
  name: k8ts
users:
# mine
- name: k8ts
  user:
    token: secret
contexts:
- context:
    cluster: k8ts
    user: k8ts
  name: other
current-context: other
`;

test("a cluster and a user of our name that another context uses stay, and ours have a number", () => {
  const merged = withEntry(TAKEN, ENTRY);
  const { clusters, users, contexts } = value(merged) as Record<string, { name: string }[]>;
  deepEqual(
    [clusters, users].map((list) => list?.map(({ name }) => name)),
    [
      ["k8ts", "k8ts-2"],
      ["k8ts", "k8ts-2"],
    ],
  );
  deepEqual(contexts?.[1], { name: "k8ts", context: { cluster: "k8ts-2", user: "k8ts-2" } });

  const again = withEntry(merged, { ...ENTRY, server: "https://127.0.0.1:7", certificate: "NEW" });
  deepEqual((value(again) as Record<string, object[]>)["clusters"]?.[1], {
    name: "k8ts-2",
    cluster: { server: "https://127.0.0.1:7", "certificate-authority-data": base64("CA") },
  });
  for (const text of [merged, again]) equal(withoutEntry(text, ENTRY), TAKEN.replace("current-context: other", 'current-context: ""'));
});

test("an entry of our name that no context uses is not ours, unless it has our authority", () => {
  const orphan = "clusters:\n- cluster:\n    server: https://other:1\n  name: k8ts\n";
  const names = (text: string) => (value(text) as { clusters: { name: string }[] }).clusters.map(({ name }) => name);
  deepEqual(names(withEntry(orphan, ENTRY)), ["k8ts", "k8ts-2"]);
  const ours = orphan.replace("    server", `    certificate-authority-data: ${base64("CA")}\n    server`);
  deepEqual(names(withEntry(ours, ENTRY)), ["k8ts"]);
});

test("a cluster that was made anew takes the place of the one before", () => {
  const merged = withEntry(withEntry(OTHERS, { ...ENTRY, authority: "OLD" }), ENTRY);
  equal(merged, withEntry(OTHERS, ENTRY));
});

test("a context of the user's own that leads to our cluster follows it, and keeps what it uses when ours is taken out", () => {
  const dev = "- context:\n    cluster: k8ts\n    user: k8ts\n    namespace: dev\n  name: dev\n";
  const merged = withEntry("", ENTRY).replace("current-context", `${dev}current-context`);
  const again = withEntry(merged, { ...ENTRY, server: "https://127.0.0.1:7" });
  equal(again, merged.replace("127.0.0.1:6443", "127.0.0.1:7"));
  const left = value(withoutEntry(again, ENTRY) ?? "") as Record<string, { name: string }[]>;
  deepEqual(
    ["clusters", "users", "contexts"].map((list) => left[list]?.map(({ name }) => name)),
    [["k8ts"], ["k8ts"], ["dev"]],
  );
});

test("a user that the context was given by hand stays", () => {
  const merged = withEntry(OTHERS, ENTRY).replace("cluster: k8ts\n    user: k8ts", "cluster: k8ts\n    user: prod");
  const left = value(withoutEntry(merged, ENTRY) ?? "") as Record<string, { name: string }[]>;
  deepEqual(left["users"]?.[0], { name: "prod", user: { token: "secret" } });
});

test("comments of others stay, wherever they stand", () => {
  const text = withEntry("", ENTRY)
    .replace("clusters:\n", "clusters:\n# one\n- cluster:\n    server: https://a\n  name: a\n# ours\n")
    .replace("users:\n", "# two\n- cluster:\n    server: https://b # three\n  name: b\n# four\nusers:\n");
  const left = withoutEntry(text, ENTRY) ?? "";
  for (const comment of ["# one", "# two", "# three", "# four"]) equal(left.includes(comment), true, `${comment} in ${left}`);
});
