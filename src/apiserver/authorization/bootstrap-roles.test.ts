import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { PolicyRule } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { silentLogger } from "../../base/logger.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../framework/api-server-config.ts";
import { CachedObjects } from "../storage/cached-objects.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import type { StartedServer } from "../testing/server.ts";
import { AuthorizationChain } from "./chain.ts";
import { CLUSTER_ROLES, ROLES } from "./testing/bootstrap-roles.ts";
import { questionOf, type Question } from "./testing/question.ts";
import { readRights, rightsOf, thingsOf, VERBS } from "./testing/rights.ts";

const GROUP = "rbac.authorization.k8s.io";
const RBAC = `/apis/${GROUP}/v1`;

interface GivenRole {
  readonly kind: "ClusterRole" | "Role";
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[];
}

let server: StartedServer;
let authorizer: AuthorizationChain;
let roles: readonly GivenRole[];
/** All questions, in the notation of the table. */
let things: ReadonlyMap<string, Question>;

before(async () => {
  // A controller aggregates these roles.
  server = await startControlledServer(["clusterrole-aggregation-controller"]);
  await server.clock.settle();
  roles = [...(await found("ClusterRole")), ...(await found("Role"))];
  for (const role of roles) await give(role);
  things = new Map(thingsOf(server.server.endpoints.all(), rules()).map((thing) => [thing, questionOf(`get ${thing}`)]));
  // A second instance of the server's authorizer: this many checks would take half a minute as reviews.
  authorizer = new AuthorizationChain(DEFAULT_API_SERVER_CONFIG.authorizationModes, {
    objects: new CachedObjects(server.server.endpoints),
    clock: server.clock,
    log: silentLogger,
  });
  await authorizer.start();
});

after(() => server[Symbol.asyncDispose]());

async function found(kind: GivenRole["kind"]): Promise<readonly GivenRole[]> {
  const { items } = (await server.call("GET", `${RBAC}/${kind.toLowerCase()}s`)).body;
  // List items carry no kind and apiVersion.
  return items.map((role: Omit<GivenRole, "kind">) => ({ ...role, kind }));
}

/** As the table names it. */
function titleOf({ metadata: { name, namespace } }: GivenRole): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Binds the role to a user without other roles. */
async function give(role: GivenRole): Promise<void> {
  const { name, namespace } = role.metadata;
  const plural = namespace === undefined ? "clusterrolebindings" : `namespaces/${namespace}/rolebindings`;
  const { code, text } = await server.call("POST", `${RBAC}/${plural}`, {
    metadata: { name: `of-holder:${name}` },
    roleRef: { apiGroup: GROUP, kind: role.kind, name },
    subjects: [{ apiGroup: GROUP, kind: "User", name: holderOf(titleOf(role)) }],
  });
  assert.equal(code, 201, text);
}

function holderOf(title: string): string {
  return `holder of ${title}`;
}

function rules(): readonly PolicyRule[] {
  return roles.flatMap((role) => role.rules ?? []);
}

/** Permissions of a user with the role and without groups, in a namespace ("": in all). */
function rightsIn(namespace: string, title: string): readonly string[] {
  const user = { name: holderOf(title), groups: [] };
  return rightsOf([...things.keys()], ({ verb, thing }) => {
    const { path = "", group = "", plural = "", subresource = "", name = "" } = things.get(thing) ?? {};
    const resource = { group, version: "v1", plural, subresource, namespace, name };
    return authorizer.authorize({ user, verb, path, ...(path === "" ? { resource } : {}) }).allowed;
  });
}

for (const [title, expected] of Object.entries(CLUSTER_ROLES)) {
  test(`the role ${title} grants exactly the permissions in the table`, () => {
    assert.deepEqual(rightsIn("", title), readRights(expected));
  });
}

for (const [title, expected] of Object.entries(ROLES)) {
  test(`the role ${title} grants exactly the permissions in the table, in its namespace only`, () => {
    const [namespace = ""] = title.split("/");

    assert.deepEqual(rightsIn(namespace, title), readRights(expected));
    assert.deepEqual(rightsIn("default", title), []);
  });
}

test("the table has every role of a new cluster", () => {
  assert.deepEqual(roles.map(titleOf).toSorted(), [...Object.keys(CLUSTER_ROLES), ...Object.keys(ROLES)].toSorted());
});

test("the table covers every verb that a role names", () => {
  const verbs = new Set(rules().flatMap((rule) => rule.verbs));

  assert.deepEqual(
    [...verbs].filter((verb) => verb !== "*" && !VERBS.includes(verb)),
    [],
  );
});
