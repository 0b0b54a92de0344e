import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../../testing/rounds.ts";
import { YamlDraft } from "./edit.ts";
import { YamlError } from "./scalar.ts";
import { parseYaml } from "./yaml.ts";

const value = (text: string) => parseYaml(new TextEncoder().encode(text)).value;

const CONFIG = `# mine
apiVersion: v1
clusters:
- cluster:
    server: https://a # the old one
  name: a
- name: b
  cluster: {server: "https://b"}
odd: [yes, 0777, 1_000, ~]
long: "${"x".repeat(200)}"
`;

test("untouched parts of a YAML document are written unchanged", () => {
  equal(
    new YamlDraft(CONFIG).toString(),
    CONFIG.replace("{server", "{ server").replace('b"}', 'b" }').replace("[yes", "[ yes").replace("~]", "~ ]"),
  );
});

test("an entry is appended, and replaced in place", () => {
  const draft = new YamlDraft(CONFIG);
  draft.putNamed("clusters", "c", "cluster", { server: "https://c" });
  draft.putNamed("clusters", "a", "cluster", { server: "https://new" });

  const { clusters } = value(draft.toString()) as { clusters: object };
  deepEqual(clusters, [
    { name: "a", cluster: { server: "https://new" } },
    { name: "b", cluster: { server: "https://b" } },
    { name: "c", cluster: { server: "https://c" } },
  ]);
  equal(draft.toString().startsWith("# mine\n"), true);
});

test("kept members of a replaced entry stay", () => {
  const draft = new YamlDraft("contexts:\n- context: {cluster: old, namespace: web, user: old}\n  name: a\n");
  draft.putNamed("contexts", "a", "context", { cluster: "a", user: "a" }, { keep: ["namespace"] });
  deepEqual(value(draft.toString()), { contexts: [{ name: "a", context: { cluster: "a", user: "a", namespace: "web" } }] });
});

test("removing an entry returns whether it existed", () => {
  const draft = new YamlDraft(CONFIG);
  deepEqual(
    [draft.removeNamed("clusters", "a"), draft.removeNamed("clusters", "a"), draft.removeNamed("users", "a")],
    [true, false, false],
  );
  equal(draft.named("clusters", "a", "cluster"), undefined);
  deepEqual(draft.named("clusters", "b", "cluster"), { server: "https://b" });
});

for (const [title, text] of [
  ["nothing", ""],
  ["comments", "# only this\n"],
  ["null", "null\n"],
  ["lists that are null", "clusters:\nusers: null\n"],
  ["empty lists", "clusters: []\nusers: []\n"],
  ["JSON", '{"clusters": [], "x": "y"}\n'],
] as const) {
  test(`an entry can be added to ${title}`, () => {
    const draft = new YamlDraft(text);
    draft.putNamed("clusters", "a", "cluster", { server: "s" });
    draft.setText("current", "a");
    const after = draft.toString();
    const { clusters, current } = value(after) as { clusters: object; current: string };
    deepEqual([clusters, current], [[{ cluster: { server: "s" }, name: "a" }], "a"]);
    equal(after.endsWith("\n"), true);
    if (title === "JSON") JSON.parse(after);
  });
}

for (const [title, text] of [
  ["a broken text", "a: [1, 2\nb: }"],
  ["two documents", "a: 1\n---\nb: 2\n"],
  ["a list", "- a\n"],
  ["a word", "hello\n"],
] as const) {
  test(`${title} is rejected`, () => throws(() => new YamlDraft(text), YamlError));
}

test("a member that should be a list and is not is rejected", () => {
  throws(() => new YamlDraft("clusters: {a: b}\n").putNamed("clusters", "a", "cluster", {}), YamlError);
});

test("any text is read back unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom("", "{}", "a: b\n"), (text, before) => {
      const draft = new YamlDraft(before);
      draft.setText("member", text);
      const written = draft.toString();
      equal((value(written) as { member: string }).member, text);
      equal(new YamlDraft(written).text("member"), text);
    }),
    { seed: testSeed(), numRuns: rounds({ quick: 200, full: 5_000 }) },
  );
});

test("lists of maps can be set, and a whole entry be read, every scalar as text", () => {
  const draft = new YamlDraft(CONFIG);
  draft.putNamed("clusters", "c", "cluster", { server: "https://c", extensions: [{ name: "x", extension: { number: "07" } }] });
  const again = new YamlDraft(draft.toString());
  deepEqual(again.namedValue("clusters", "c", "cluster"), {
    server: "https://c",
    extensions: [{ name: "x", extension: { number: "07" } }],
  });
  deepEqual(again.named("clusters", "c", "cluster"), { server: "https://c" });
  equal(again.namedValue("clusters", "none", "cluster"), undefined);
});
