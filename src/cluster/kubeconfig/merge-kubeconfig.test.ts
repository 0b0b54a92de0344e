import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import type { Owner } from "./kubeconfig-owner.ts";
import { mergeEntry, removeEntry, type KubeconfigEntry } from "./merge-kubeconfig.ts";

const ENTRY = { context: "k8ts", directory: "/d", server: "https://127.0.0.1:6443", authority: "CA", certificate: "CERT", key: "KEY" };
/** As ours, but in another directory. */
const SIBLING = { ...ENTRY, directory: "/sibling", server: "https://127.0.0.1:1", authority: "SIBLING" };
const MARK = { extensions: [{ name: "k8ts", extension: { "data-directory": "/d" } }] };

const withEntry = (text: string, entry: KubeconfigEntry, others?: readonly string[]) => mergeEntry(text, entry, others).text;
const withoutEntry = (text: string, owner: Owner) => removeEntry(text, owner)?.text;

/** As a k8ts wrote it that made no marks, or as what has lost them. */
const withoutMarks = (text: string) => text.replace(/^ +extensions:\n +- name: k8ts\n +extension:\n +data-directory: .*\n/gm, "");

/** The names in each of the lists. */
const namesIn = (text: string) =>
  ["clusters", "users", "contexts"].map((list) =>
    ((value(text) as Record<string, { name: string }[]>)[list] ?? []).map(({ name }) => name),
  );

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

test("a new kubeconfig has the entry as its current context", () => {
  deepEqual(value(withEntry("", ENTRY)), {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "k8ts", cluster: { server: ENTRY.server, "certificate-authority-data": base64("CA"), ...MARK } }],
    users: [{ name: "k8ts", user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY"), ...MARK } }],
    contexts: [{ name: "k8ts", context: { cluster: "k8ts", user: "k8ts", ...MARK } }],
    "current-context": "k8ts",
  });
});

test("foreign entries are kept, and removing ours restores the file, without a current context", () => {
  const merged = withEntry(OTHERS, ENTRY);
  equal(merged.includes("# careful"), true);

  equal(withoutEntry(merged, ENTRY), OTHERS.replace("current-context: prod", 'current-context: ""'));
});

test("another current context is kept when the entry is removed", () => {
  const merged = withEntry(OTHERS, ENTRY).replace("current-context: k8ts", "current-context: prod");
  equal(withoutEntry(merged, ENTRY), OTHERS);
});

test("a second start replaces the entry and keeps the namespace that the user chose", () => {
  const chosen = withEntry("", ENTRY).replace("user: k8ts\n", "user: k8ts\n    namespace: web\n");
  const { contexts, clusters } = value(withEntry(chosen, { ...ENTRY, server: "https://127.0.0.1:7" })) as {
    contexts: object;
    clusters: object[];
  };
  deepEqual(contexts, [{ name: "k8ts", context: { cluster: "k8ts", user: "k8ts", namespace: "web", ...MARK } }]);
  equal(clusters.length, 1);
});

test("an entry of the same name for another cluster is not removed, and neither is a missing one", () => {
  equal(withoutEntry(withEntry(OTHERS, SIBLING), ENTRY), undefined);
  equal(withoutEntry(withoutMarks(withEntry(OTHERS, SIBLING)), ENTRY), undefined);
  equal(withoutEntry(OTHERS, ENTRY), undefined);
});

test("a file that cannot be parsed, or is of another kind, is rejected", () => {
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

test("a cluster and a user of our name that another context uses are kept, and ours get a number", () => {
  const merged = withEntry(TAKEN, ENTRY);
  const { clusters, users, contexts } = value(merged) as Record<string, { name: string }[]>;
  deepEqual(
    [clusters, users].map((list) => list?.map(({ name }) => name)),
    [
      ["k8ts", "k8ts-2"],
      ["k8ts", "k8ts-2"],
    ],
  );
  deepEqual(contexts?.[1], { name: "k8ts", context: { cluster: "k8ts-2", user: "k8ts-2", ...MARK } });

  const again = withEntry(merged, { ...ENTRY, server: "https://127.0.0.1:7", certificate: "NEW" });
  deepEqual((value(again) as Record<string, object[]>)["clusters"]?.[1], {
    name: "k8ts-2",
    cluster: { server: "https://127.0.0.1:7", "certificate-authority-data": base64("CA"), ...MARK },
  });
  for (const text of [merged, again]) equal(withoutEntry(text, ENTRY), TAKEN.replace("current-context: other", 'current-context: ""'));
});

test("an entry of our name that no context uses is not ours, unless it has our CA", () => {
  const orphan = "clusters:\n- cluster:\n    server: https://other:1\n  name: k8ts\n";
  const names = (text: string) => (value(text) as { clusters: { name: string }[] }).clusters.map(({ name }) => name);
  deepEqual(names(withEntry(orphan, ENTRY)), ["k8ts", "k8ts-2"]);
  const ours = orphan.replace("    server", `    certificate-authority-data: ${base64("CA")}\n    server`);
  deepEqual(names(withEntry(ours, ENTRY)), ["k8ts"]);
});

test("a recreated cluster replaces its predecessor", () => {
  const merged = withEntry(withEntry(OTHERS, { ...ENTRY, authority: "OLD" }), ENTRY);
  equal(merged, withEntry(OTHERS, ENTRY));
});

test("a user's own context for our cluster follows it, and keeps its entries when ours is removed", () => {
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

test("a user that was set in the context by hand is kept", () => {
  const merged = withEntry(OTHERS, ENTRY).replace("cluster: k8ts\n    user: k8ts", "cluster: k8ts\n    user: prod");
  const left = value(withoutEntry(merged, ENTRY) ?? "") as Record<string, { name: string }[]>;
  deepEqual(left["users"]?.[0], { name: "prod", user: { token: "secret" } });
});

test("comments are kept, wherever they are", () => {
  const text = withEntry("", ENTRY)
    .replace("clusters:\n", "clusters:\n# one\n- cluster:\n    server: https://a\n  name: a\n# ours\n")
    .replace("users:\n", "# two\n- cluster:\n    server: https://b # three\n  name: b\n# four\nusers:\n");
  const left = withoutEntry(text, ENTRY) ?? "";
  for (const comment of ["# one", "# two", "# three", "# four"]) equal(left.includes(comment), true, `${comment} in ${left}`);
});

test("a cluster of the same name in another directory has its own entries, which are kept and removed independently", () => {
  const both = mergeEntry(withEntry(OTHERS, SIBLING), ENTRY);
  equal(both.context, "k8ts-2");
  deepEqual(
    namesIn(both.text),
    ["prod", "prod", "prod"].map((name) => [name, "k8ts", "k8ts-2"]),
  );

  const changed = { ...ENTRY, server: "https://127.0.0.1:7", authority: "NEW", certificate: "NEW", key: "NEW" };
  const again = mergeEntry(both.text, changed);
  equal(again.context, "k8ts-2");
  deepEqual(namesIn(again.text), namesIn(both.text));
  deepEqual(removeEntry(again.text, changed), {
    text: withEntry(OTHERS, SIBLING).replace("current-context: k8ts", 'current-context: ""'),
    contexts: ["k8ts-2"],
  });
  // Also when the first is deleted: the name may be used in scripts.
  equal(mergeEntry(withoutEntry(both.text, SIBLING) ?? "", ENTRY).context, "k8ts-2");
});

test("clusters that share a CA are distinguished by their directories", () => {
  const both = withEntry(withEntry("", { ...SIBLING, authority: "CA" }), ENTRY);
  deepEqual(
    namesIn(both),
    [0, 1, 2].map(() => ["k8ts", "k8ts-2"]),
  );
  deepEqual(removeEntry(both, ENTRY)?.contexts, ["k8ts-2"]);
});

test("entries without marks are identified by our CA, and marked from then on", () => {
  const old = withoutMarks(withEntry(OTHERS, ENTRY));
  equal(old.includes("extensions"), false);
  deepEqual(value(withEntry(old, ENTRY)), value(withEntry(OTHERS, ENTRY)));
  equal(withoutEntry(old, ENTRY), OTHERS.replace("current-context: prod", 'current-context: ""'));
});

test("a context of our name that k8ts did not write is kept", () => {
  const theirs = OTHERS.replace("  name: prod\ncurrent-context: prod", "  name: k8ts\ncurrent-context: k8ts");
  const merged = mergeEntry(theirs, ENTRY);
  equal(merged.context, "k8ts-2");
  equal(withoutEntry(merged.text, ENTRY), theirs.replace("current-context: k8ts", 'current-context: ""'));
});

test("names that another owner uses in another file of the list are left to it", () => {
  const merged = mergeEntry(OTHERS, ENTRY, ["clusters: [", TAKEN]);
  equal(merged.context, "k8ts");
  deepEqual(namesIn(merged.text), [
    ["prod", "k8ts-2"],
    ["prod", "k8ts-2"],
    ["prod", "k8ts"],
  ]);
  equal(mergeEntry("", ENTRY, [withEntry("", SIBLING)]).context, "k8ts-2");
});

test("our own entries in another file of the list do not conflict", () => {
  for (const other of [withEntry("", ENTRY), withoutMarks(withEntry("", ENTRY))])
    equal(withEntry(OTHERS, ENTRY, [other]), withEntry(OTHERS, ENTRY));
});

test("a name that another owner has since used in another file is given up, so that theirs is visible again", () => {
  const merged = withEntry(withEntry(OTHERS, ENTRY), ENTRY, [withEntry("", SIBLING)]);
  deepEqual(
    namesIn(merged),
    [0, 1, 2].map(() => ["prod", "k8ts-2"]),
  );
});

test("a context that the user has renamed follows the cluster, and is removed with it", () => {
  const renamed = withEntry("", ENTRY).replace("  name: k8ts\ncurrent-context: k8ts", "  name: mine\ncurrent-context: mine");
  const merged = withEntry(renamed, { ...ENTRY, server: "https://127.0.0.1:7" });
  deepEqual(namesIn(merged), [["k8ts"], ["k8ts"], ["mine", "k8ts"]]);
  deepEqual(namesIn(withoutEntry(merged, ENTRY) ?? ""), [[], [], []]);
});

test("without the CA only marks identify entries, and orphaned entries are removed, too", () => {
  const { authority: _authority, ...owner } = ENTRY;
  const merged = withEntry(OTHERS, ENTRY);
  equal(removeEntry(withoutMarks(merged), owner), undefined);
  const [context] = merged.split("current-context")[0]?.split("contexts:").slice(1) ?? [];
  const alone = merged.replace(context ?? "", "\n").replace("current-context: k8ts", "current-context: prod");
  const left = removeEntry(alone, owner);
  deepEqual([left?.contexts, namesIn(left?.text ?? "")], [[], [["prod"], ["prod"], []]]);
});
