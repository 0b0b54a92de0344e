import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { ruleAllowsName, ruleAllowsPath, ruleAllowsResource } from "../../../api/rbac.authorization.k8s.io/v1/rule-matching.ts";
import type { AccessAttributes, AccessDecision } from "../../framework/authorization.ts";
import type { Follower, KindName, Objects } from "../../framework/objects.ts";
import type { User } from "../../framework/request.ts";
import { Policy } from "./policy.ts";
import { RbacAuthorizer } from "./rbac-authorizer.ts";
import { stub } from "../../../base/testing/stub.ts";

const API_VERSION = "rbac.authorization.k8s.io/v1";

type Plural = "clusterroles" | "roles" | "clusterrolebindings" | "rolebindings";
type Any = Role | ClusterRole | RoleBinding | ClusterRoleBinding;

/** Objects that the test adds and removes. */
class Rbac {
  readonly authorizer: RbacAuthorizer;
  readonly stored = new Map<string, Any>();
  readonly #followers = new Map<string, Follower>();

  constructor() {
    const policy = new Policy();
    this.authorizer = new RbacAuthorizer(policy, () => policy.follow(stub<Objects>({ follow: this.follow.bind(this) })));
    void this.authorizer.start();
  }

  follow({ plural }: KindName, follower: Follower): Promise<void> {
    follower.reset();
    this.#followers.set(plural, follower);
    return Promise.resolve();
  }

  put(plural: Plural, object: Any): void {
    const key = this.#key(plural, object);
    const previous = this.stored.get(key);
    this.stored.set(key, object);
    this.#followers.get(plural)?.put(object, previous);
  }

  remove(plural: Plural, object: Any): void {
    const found = this.stored.get(this.#key(plural, object));
    if (found === undefined) return;
    this.stored.delete(this.#key(plural, object));
    this.#followers.get(plural)?.remove(found);
  }

  /** Simulates a lost watch: all objects are listed again. */
  reset(plural: Plural): void {
    this.#followers.get(plural)?.reset();
    for (const object of this.of(plural)) this.#followers.get(plural)?.put(object, undefined);
  }

  of(plural: Plural): readonly Any[] {
    return [...this.stored].filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object);
  }

  #key(plural: Plural, { metadata: { namespace = "", name } }: Any): string {
    return `${plural}/${namespace}/${name}`;
  }
}

function metadata(name: string, namespace: string) {
  return namespace === "" ? { name } : { name, namespace };
}

function roleOf(name: string, namespace: string, rules: readonly PolicyRule[]): [Plural, Any] {
  const kind = namespace === "" ? "ClusterRole" : "Role";
  const plural = namespace === "" ? "clusterroles" : "roles";
  return [plural, { apiVersion: API_VERSION, kind, metadata: metadata(name, namespace), rules }];
}

function bindingOf(name: string, namespace: string, role: { kind: string; name: string }, subjects: readonly Subject[]): [Plural, Any] {
  const kind = namespace === "" ? "ClusterRoleBinding" : "RoleBinding";
  const plural = namespace === "" ? "clusterrolebindings" : "rolebindings";
  return [plural, { apiVersion: API_VERSION, kind, metadata: metadata(name, namespace), roleRef: role, subjects }];
}

const user = (name: string): Subject => ({ kind: "User", name });
const group = (name: string): Subject => ({ kind: "Group", name });
const account = (name: string, namespace?: string): Subject => ({
  kind: "ServiceAccount",
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

const READER: PolicyRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const JANE: User = { name: "jane", groups: ["dev", "system:authenticated"] };
const ROBOT: User = { name: "system:serviceaccount:n:robot", groups: [] };

function toGet(who: User, namespace: string, more: { verb?: string; plural?: string; name?: string } = {}): AccessAttributes {
  const { verb = "get", plural = "pods", name = "x" } = more;
  return { user: who, verb, path: "", resource: { group: "", version: "v1", plural, subresource: "", namespace, name } };
}

const SOURCES: readonly [what: string, binding: [Plural, Any], who: User, namespace: string, reason: string | undefined][] = [
  [
    "a user",
    bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [user("jane")]),
    JANE,
    "n",
    'ClusterRoleBinding "b" of ClusterRole "r" to User "jane"',
  ],
  [
    "a user anywhere",
    bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [user("jane")]),
    JANE,
    "",
    'ClusterRoleBinding "b" of ClusterRole "r" to User "jane"',
  ],
  [
    "the first matching subject",
    bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [user("joe"), group("dev"), user("jane")]),
    JANE,
    "n",
    'ClusterRoleBinding "b" of ClusterRole "r" to Group "dev"',
  ],
  [
    "a namespace",
    bindingOf("b", "n", { kind: "ClusterRole", name: "r" }, [user("jane")]),
    JANE,
    "n",
    'RoleBinding "b/n" of ClusterRole "r" to User "jane"',
  ],
  ["a Role", bindingOf("b", "n", { kind: "Role", name: "r" }, [user("jane")]), JANE, "n", 'RoleBinding "b/n" of Role "r" to User "jane"'],
  ["another namespace", bindingOf("b", "m", { kind: "ClusterRole", name: "r" }, [user("jane")]), JANE, "n", undefined],
  [
    "a service account",
    bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [account("robot", "n")]),
    ROBOT,
    "x",
    'ClusterRoleBinding "b" of ClusterRole "r" to ServiceAccount "robot/n"',
  ],
  [
    "a service account of the binding's namespace",
    bindingOf("b", "n", { kind: "Role", name: "r" }, [account("robot")]),
    ROBOT,
    "n",
    'RoleBinding "b/n" of Role "r" to ServiceAccount "robot/n"',
  ],
  [
    "a service account without a namespace",
    bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [account("robot")]),
    ROBOT,
    "n",
    undefined,
  ],
  ["a user with the name of a group", bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [user("dev")]), JANE, "n", undefined],
  [
    "an unknown subject kind",
    bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [{ kind: "Node", name: "jane" }]),
    JANE,
    "n",
    undefined,
  ],
];

for (const [what, binding, who, namespace, source] of SOURCES) {
  test(`an RBAC binding to ${what} ${source === undefined ? "grants nothing" : "grants its role and names the binding in the reason"}`, () => {
    const rbac = new Rbac();
    rbac.put(...roleOf("r", "", [READER]));
    rbac.put(...roleOf("r", "n", [READER]));
    rbac.put(...binding);

    const decision = rbac.authorizer.authorize(toGet(who, namespace));

    assert.deepEqual(
      decision,
      source === undefined ? { allowed: false } : { allowed: true, authorizer: "RBAC", reason: `RBAC: allowed by ${source}` },
    );
  });
}

test("RBAC evaluates bindings by name, ClusterRoleBindings first", () => {
  const rbac = new Rbac();
  rbac.put(...roleOf("r", "", [READER]));
  for (const [name, namespace] of [
    ["c", "n"],
    ["a", "n"],
    ["z", ""],
    ["b", ""],
  ] as const) {
    rbac.put(...bindingOf(name, namespace, { kind: "ClusterRole", name: "r" }, [user("jane")]));
  }
  const order: string[] = [];

  for (const [name, namespace] of [
    ["b", ""],
    ["z", ""],
    ["a", "n"],
    ["c", "n"],
  ] as const) {
    order.push(rbac.authorizer.authorize(toGet(JANE, "n")).reason?.match(/Binding "(.)/)?.[1] ?? "");
    rbac.remove(...bindingOf(name, namespace, { kind: "ClusterRole", name: "r" }, []));
  }

  assert.deepEqual(order, ["b", "z", "a", "c"]);
});

test("an RBAC rejection lists missing roles without duplicates, and an allowed request does not", () => {
  const rbac = new Rbac();
  rbac.put(...bindingOf("a", "", { kind: "ClusterRole", name: "lost" }, [user("jane")]));
  const alone = rbac.authorizer.authorize(toGet(JANE, "n"));
  rbac.put(...bindingOf("b", "", { kind: "ClusterRole", name: "lost" }, [user("jane")]));
  rbac.put(...bindingOf("a", "n", { kind: "Role", name: "gone" }, [user("jane")]));
  rbac.put(...bindingOf("c", "n", { kind: "Thing", name: "x" }, [user("jane")]));
  const many = rbac.authorizer.authorize(toGet(JANE, "n"));
  rbac.put(...roleOf("lost", "", [READER]));
  const { allowed } = rbac.authorizer.authorize(toGet(JANE, "n"));

  assert.equal(alone.reason, 'RBAC: clusterrole.rbac.authorization.k8s.io "lost" not found');
  assert.equal(
    many.reason,
    'RBAC: [clusterrole.rbac.authorization.k8s.io "lost" not found, role.rbac.authorization.k8s.io "gone" not found, unsupported role reference kind: "Thing"]',
  );
  assert.equal(allowed, true);
});

test("RBAC caches one answer for all object names, except where a rule has resourceNames", () => {
  const rbac = new Rbac();
  rbac.put(...roleOf("named", "", [{ ...READER, resourceNames: ["a", "b"] }]));
  rbac.put(...bindingOf("b", "", { kind: "ClusterRole", name: "named" }, [user("jane")]));
  const may = (name: string): boolean => rbac.authorizer.authorize(toGet(JANE, "n", { name })).allowed;

  assert.deepEqual(["a", "c", "b", "", "a"].map(may), [true, false, true, false, true]);
});

test("RBAC does not confuse crafted review attributes that look alike", () => {
  const rbac = new Rbac();
  rbac.put(...roleOf("r", "", [{ verbs: ["a b"], apiGroups: [""], resources: ["c"] }]));
  rbac.put(...bindingOf("b", "", { kind: "ClusterRole", name: "r" }, [user("jane")]));

  assert.equal(rbac.authorizer.authorize(toGet(JANE, "", { verb: "a b", plural: "c" })).allowed, true);
  assert.equal(rbac.authorizer.authorize(toGet(JANE, "", { verb: "a", plural: " bc" })).allowed, false);
  assert.equal(rbac.authorizer.authorize(toGet({ name: "ja", groups: ["ne"] }, "", { verb: "a b", plural: "c" })).allowed, false);
});

test("RBAC lists the rules of cluster and namespace, and the missing roles", () => {
  const rbac = new Rbac();
  const paths = { verbs: ["get"], nonResourceURLs: ["/a"] };
  rbac.put(...roleOf("r", "", [READER, paths]));
  rbac.put(...roleOf("own", "n", [{ ...READER, resourceNames: ["x"] }]));
  rbac.put(...bindingOf("a", "", { kind: "ClusterRole", name: "r" }, [group("dev")]));
  rbac.put(...bindingOf("b", "n", { kind: "Role", name: "own" }, [user("jane")]));
  rbac.put(...bindingOf("c", "n", { kind: "Role", name: "lost" }, [user("jane")]));

  assert.deepEqual(rbac.authorizer.rulesFor(JANE, "n"), {
    resourceRules: [READER, { ...READER, resourceNames: ["x"] }],
    nonResourceRules: [paths],
    incomplete: false,
    evaluationError: 'role.rbac.authorization.k8s.io "lost" not found',
  });
  assert.deepEqual(rbac.authorizer.rulesFor(JANE, ""), { resourceRules: [READER], nonResourceRules: [paths], incomplete: false });
});

/** Reference implementation without index or cache. */
function naive(rbac: Rbac, { user: who, verb, resource, path }: AccessAttributes): AccessDecision {
  const byName = (a: Any, b: Any): number => (a.metadata.name < b.metadata.name ? -1 : 1);
  const namespace = resource?.namespace ?? "";
  const local = rbac.of("rolebindings").filter(({ metadata: { namespace: home } }) => home === namespace);
  const bindings = [...rbac.of("clusterrolebindings").toSorted(byName), ...local.toSorted(byName)] as RoleBinding[];
  const errors: string[] = [];
  for (const {
    kind,
    metadata: { name, namespace: home = "" },
    roleRef,
    subjects = [],
  } of bindings) {
    const subject = subjects.find((each) => {
      if (each.kind === "User") return each.name === who.name;
      if (each.kind === "Group") return who.groups.includes(each.name);
      return (each.namespace ?? home) !== "" && who.name === `system:serviceaccount:${each.namespace ?? home}:${each.name}`;
    });
    if (subject === undefined) continue;
    const where = roleRef.kind === "Role" ? `roles/${home}` : "clusterroles/";
    const role = rbac.stored.get(`${where}/${roleRef.name}`) as Role | undefined;
    if (role === undefined) errors.push(`${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io "${roleRef.name}" not found`);
    const allows = (rule: PolicyRule): boolean =>
      resource === undefined
        ? ruleAllowsPath(rule, { verb, path })
        : ruleAllowsResource(rule, { verb, ...resource }) && ruleAllowsName(rule, resource.name);
    if (role?.rules?.some(allows) !== true) continue;
    const to = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace ?? home}` : subject.name;
    const title = home === "" ? name : `${name}/${home}`;
    return {
      allowed: true,
      authorizer: "RBAC",
      reason: `RBAC: allowed by ${kind} "${title}" of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${to}"`,
    };
  }
  const [first, ...more] = new Set(errors);
  if (first === undefined) return { allowed: false };
  return { allowed: false, reason: `RBAC: ${more.length === 0 ? first : `[${[first, ...more].join(", ")}]`}` };
}

const some = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 });
const aNamespace = fc.constantFrom("", "n", "m");
const aRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record(
    {
      verbs: some("*", "get", "list"),
      apiGroups: some("*", "", "apps"),
      resources: some("*", "pods", "pods/log", "*/log"),
      resourceNames: some("a", "b"),
    },
    { requiredKeys: ["verbs", "apiGroups", "resources"] },
  ) as fc.Arbitrary<PolicyRule>,
  fc.record({ verbs: some("*", "get"), nonResourceURLs: some("/a", "/a/*", "*") }),
);
const aSubject: fc.Arbitrary<Subject> = fc.oneof(
  fc.constantFrom("jane", "joe", "system:serviceaccount:n:robot").map(user),
  fc.constantFrom("dev", "ops").map(group),
  fc.constantFrom(account("robot"), account("robot", "n"), account("robot", "m")),
);
const aName = fc.constantFrom("a", "b", "c");
const aRole = fc.tuple(aName, aNamespace, fc.array(aRule, { maxLength: 3 })).map((role) => roleOf(...role));
const aRoleRef = fc.record({ kind: fc.constantFrom("Role", "ClusterRole"), name: aName });
const aBinding = fc
  .tuple(aName, aNamespace, aRoleRef, fc.array(aSubject, { maxLength: 4 }))
  .map(([name, namespace, ref, subjects]) =>
    bindingOf(name, namespace, namespace === "" ? { ...ref, kind: "ClusterRole" } : ref, subjects),
  );
const aUser = fc.constantFrom<User>(JANE, { name: "joe", groups: [] }, { name: "jane", groups: ["ops", "dev"] }, ROBOT, {
  name: "system:serviceaccount:m:robot",
  groups: ["ops"],
});
const aQuestion: fc.Arbitrary<AccessAttributes> = fc.oneof(
  fc
    .tuple(
      aUser,
      fc.constantFrom("get", "list", "put"),
      fc.constantFrom("", "apps", "x"),
      fc.constantFrom("pods", "nodes"),
      fc.constantFrom("", "log"),
      aNamespace,
      fc.constantFrom("", "a", "c"),
    )
    .map(([who, verb, of, plural, subresource, namespace, name]) => ({
      // Sometimes the same object again, sometimes an equal copy.
      user: name === "a" ? { ...who } : who,
      verb,
      path: "",
      resource: { group: of, version: "v1", plural, subresource, namespace, name },
    })),
  fc
    .tuple(aUser, fc.constantFrom("get", "post"), fc.constantFrom("/a", "/a/b", "/b"))
    .map(([who, verb, path]) => ({ user: who, verb, path })),
);
const aStep = fc.oneof(
  { weight: 2, arbitrary: fc.oneof(aRole, aBinding).map((object) => ({ put: object })) },
  { weight: 1, arbitrary: fc.oneof(aRole, aBinding).map((object) => ({ remove: object })) },
  { weight: 1, arbitrary: fc.constantFrom<Plural>("roles", "clusterrolebindings", "rolebindings").map((plural) => ({ reset: plural })) },
  { weight: 6, arbitrary: aQuestion.map((question) => ({ question })) },
);

test("after random changes RBAC answers equal those of the reference implementation", () => {
  fc.assert(
    fc.property(fc.array(aStep, { minLength: 20, maxLength: 60 }), (steps) => {
      const rbac = new Rbac();
      for (const step of steps) {
        if ("put" in step) rbac.put(...step.put);
        else if ("remove" in step) rbac.remove(...step.remove);
        else if ("reset" in step) rbac.reset(step.reset);
        else assert.deepEqual(rbac.authorizer.authorize(step.question), naive(rbac, step.question));
      }
    }),
    { seed: testSeed(), numRuns: rounds({ quick: 500, full: 10_000 }) },
  );
});
