import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { User } from "../framework/request.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import type { StartedServer } from "../testing/server.ts";
import { questionOf, reviewOf, type Question } from "./testing/question.ts";
import { PERMISSIONS, type Row } from "./testing/permissions.ts";
import { ALMIGHTY, SET_UP_OBJECTS, USERS } from "./testing/who.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

let server: StartedServer;

before(async () => {
  // A controller aggregates these roles.
  server = await startControlledServer(["clusterrole-aggregation-controller"]);
  for (const { path, object } of SET_UP_OBJECTS) {
    const { code, body } = await server.call("POST", path, object);
    assert.equal(code, 201, `${path}: ${body.message}`);
  }
  // The OpenAPI document is built incrementally on first request.
  const description = server.call("GET", "/openapi/v3");
  await server.clock.advance(1);
  await description;
});

after(() => server[Symbol.asyncDispose]());

async function review(question: Question, user: User): Promise<boolean> {
  return (await server.call("POST", REVIEWS, reviewOf(question, user))).body.status.allowed === true;
}

async function whoMay(ask: (user: User) => Promise<boolean>): Promise<readonly string[]> {
  const names: string[] = [];
  for (const [name, user] of Object.entries(USERS)) if (await ask(user)) names.push(name);
  return names.toSorted();
}

function named([, ...who]: Row): readonly string[] {
  return who.flatMap((names) => names.split(" ")).toSorted();
}

for (const [theme, rows] of Object.entries(PERMISSIONS)) {
  for (const row of rows) {
    const [sentence] = row;
    test(`${theme}: exactly the users in the table may ${sentence}`, async () => {
      const question = questionOf(sentence);

      assert.deepEqual(await whoMay((user) => review(question, user)), named(row));
      for (const user of Object.values(ALMIGHTY)) assert.ok(await review(question, user), user.name);
    });
  }
}

test("every user in the permission table is one of those tested", () => {
  const names = Object.values(PERMISSIONS).flatMap((rows) => rows.flatMap(named));

  assert.deepEqual(
    names.filter((name) => USERS[name] === undefined),
    [],
  );
});

const METHODS: Readonly<Record<string, string>> = {
  get: "GET",
  list: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

/** The question as a request without effect; undefined if no request has this verb or resource. */
function requestOf({ verb, path, group, plural, subresource, name, namespace, fieldSelector }: Question) {
  const method = METHODS[verb];
  if (
    method === undefined ||
    group === "example.com" ||
    (path === "" && (plural === "signers" || SUBRESOURCES_WITHOUT_REQUEST.includes(subresource)))
  )
    return undefined;
  if (path !== "") return { method, path };
  const needsName = verb !== "create" && verb !== "list" && verb !== "deletecollection";
  // Paths of collections have no name, and those of creates only for subresources.
  if ((name !== "" && verb === "list") || (name === "" && needsName)) return undefined;
  const start = group === "" ? "/api/v1" : `/apis/${group}/${VERSIONS[group] ?? "v1"}`;
  const scope = namespace === "" || plural === "namespaces" ? "" : `/namespaces/${namespace}`;
  const object = name === "" || (verb === "create" && subresource === "") ? "" : `/${name}`;
  const query = method === "GET" ? `?fieldSelector=${encodeURIComponent(fieldSelector)}` : "?dryRun=All";
  return { method, path: `${start}${scope}/${plural}${object}${subresource === "" ? "" : `/${subresource}`}${query}` };
}

/** Permission-only resources that are not served; and connections, which are not opened here. */
const SUBRESOURCES_WITHOUT_REQUEST = ["finalizers", "restricted", "nodeclient", "exec", "attach", "portforward", "proxy", "metrics", "log"];
const VERSIONS: Readonly<Record<string, string>> = { autoscaling: "v2" };

/** A body that fails right after decoding. */
const NOTHING: JsonObject = { kind: "Nothing" };

async function isAuthorized(user: User, { method, path }: { readonly method: string; readonly path: string }): Promise<boolean> {
  const body = method === "GET" || method === "DELETE" ? undefined : NOTHING;
  const headers: Record<string, string> = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
  const { code, text } = await server.as(user).call(method, path, body, headers);
  // Nodes are also restricted by admission, which runs later and has other messages.
  return !(code === 403 && / cannot \S+ /.test(text));
}

for (const [theme, rows] of Object.entries(PERMISSIONS)) {
  test(`${theme}: a request is authorized exactly if the table says so`, async () => {
    let asked = 0;
    for (const row of rows) {
      const request = requestOf(questionOf(row[0]));
      if (request === undefined) continue;
      asked++;
      assert.deepEqual(await whoMay((user) => isAuthorized(user, request)), named(row), row[0]);
    }
    assert.ok(asked > 0);
  });
}
