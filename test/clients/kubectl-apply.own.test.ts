/** The real kubectl applies files: client-side and server-side apply, diff, replace and edit. */
import { deepEqual, equal, match } from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { aConfigMap, aDeployment, aList, aService } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

test("kubectl apply creates objects, updates changed fields, and leaves the rest unchanged", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("apply");
  const first = aList(aConfigMap("settings", { a: "1", b: "2" }), aDeployment("web", { replicas: 2 }), aService("web"));
  const second = aList(
    aConfigMap("settings", { a: "one" }),
    aDeployment("web", { replicas: 2 }),
    aService("web", { ports: [{ port: 81 }] }),
  );

  const made = await kubectl("apply -f -", { input: first });
  const again = await kubectl("apply -f -", { input: first });
  const changed = await kubectl("apply -f -", { input: second });

  equal(made, "configmap/settings created\ndeployment.apps/web created\nservice/web created\n");
  equal(again, "configmap/settings unchanged\ndeployment.apps/web unchanged\nservice/web unchanged\n");
  equal(changed, "configmap/settings configured\ndeployment.apps/web unchanged\nservice/web configured\n");
  equal(await kubectl("get configmap settings -o jsonpath={.data}"), `{"a":"one"}`);
  equal(await kubectl("get service web -o jsonpath={.spec.ports}"), `[{"port":81,"protocol":"TCP","targetPort":81}]`);
});

test("kubectl apply keeps fields that others have set, and removes fields that it no longer sets", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("apply-others");
  const container = {
    name: "web",
    image: "example/web:1",
    env: [
      { name: "A", value: "1" },
      { name: "B", value: "2" },
    ],
  };
  await kubectl("apply -f -", { input: aDeployment("web", { containers: [container] }) });
  await kubectl("scale deployment web --replicas=5");
  await kubectl("set env deployment/web C=3");

  const next = { ...container, image: "example/web:2", env: [{ name: "B", value: "2" }] };
  equal(await kubectl("apply -f -", { input: aDeployment("web", { containers: [next] }) }), "deployment.apps/web configured\n");

  const { spec, metadata } = JSON.parse(await kubectl("get deployment web -o json"));
  equal(spec.replicas, 5);
  deepEqual(spec.template.spec.containers[0].env, [
    { name: "B", value: "2" },
    { name: "C", value: "3" },
  ]);
  equal(metadata.generation, 4);
});

test("kubectl apply --prune deletes objects that are no longer in the file", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("prune");
  const labelled = (name: string) => aConfigMap(name, {}, { labels: { set: "one" } });
  await kubectl("apply -f -", { input: aList(labelled("stays"), labelled("goes")) });
  await kubectl("create configmap stranger");

  const line = "apply -f - --prune -l set=one --prune-allowlist=core/v1/ConfigMap";
  equal(await kubectl(line, { input: aList(labelled("stays")) }), "configmap/stays configured\nconfigmap/goes pruned\n");

  equal(await kubectl("get configmaps -o name"), "configmap/stays\nconfigmap/stranger\n");
});

test("kubectl apply reads, views and sets the last applied configuration", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("last-applied");
  await kubectl("create configmap settings --from-literal=a=1");

  const { stderr } = await kubectl.run("apply -f -", { input: aConfigMap("settings", { a: "2" }) });

  match(stderr, /^Warning: resource configmaps\/settings is missing the kubectl.kubernetes.io\/last-applied-configuration annotation/);
  match(await kubectl("apply view-last-applied configmap/settings"), /^data:\n {2}a: "2"\n/m);
  equal(await kubectl("apply set-last-applied -f -", { input: aConfigMap("settings", { a: "3" }) }), "configmap/settings configured\n");
  match(await kubectl("apply view-last-applied configmap/settings -o json"), /"a": "3"/);
});

test("kubectl apply --dry-run=server reports what would happen", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("apply-dry-run");
  await kubectl("apply -f -", { input: aConfigMap("settings", { a: "1" }) });

  const line = "apply -f - --dry-run=server";
  equal(await kubectl(line, { input: aConfigMap("settings", { a: "2" }) }), "configmap/settings configured (server dry run)\n");
  equal(await kubectl(line, { input: aConfigMap("other") }), "configmap/other created (server dry run)\n");

  equal(await kubectl("get configmaps -o jsonpath={.items[*].data}"), `{"a":"1"}`);
});

test(
  "server-side apply rejects conflicts with another manager, takes ownership by force, and shares equal values",
  needs("kubectl"),
  async () => {
    const kubectl = await server.inNamespace("server-side");
    const apply = (manager: string, replicas: number) =>
      [`apply --server-side --field-manager=${manager} -f -`, { input: aDeployment("web", { replicas }) }] as const;
    equal(await kubectl(...apply("first", 1)), "deployment.apps/web serverside-applied\n");

    equal(
      await kubectl.fails(...apply("second", 2)),
      `error: Apply failed with 1 conflict: conflict with "first": .spec.replicas
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
`,
    );
    equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}"), "1");

    const [line, input] = apply("second", 2);
    await kubectl(`${line} --force-conflicts`, input);

    const { metadata, spec } = JSON.parse(await kubectl("get deployment web -o json --show-managed-fields"));
    equal(spec.replicas, 2);
    const owners = metadata.managedFields.map(({ manager, operation, fieldsV1 }: ManagedFields) => [
      manager,
      operation,
      fieldsV1["f:spec"]?.["f:replicas"] !== undefined,
    ]);
    deepEqual(owners, [
      ["first", "Apply", false],
      ["second", "Apply", true],
    ]);
  },
);

interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: { readonly [field: string]: { readonly [field: string]: object } | undefined };
}

test("server-side apply names every manager and field of a conflict, including those of updates", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("conflicts");
  await kubectl("apply --server-side --field-manager=one -f -", { input: aConfigMap("settings", { a: "1", b: "1" }) });
  await kubectl('patch configmap settings --field-manager=patcher -p \'{"data":{"c":"1"}}\'');

  const error = await kubectl.fails("apply --server-side --field-manager=two -f -", {
    input: aConfigMap("settings", { a: "2", b: "2", c: "2" }),
  });

  match(
    error,
    /^error: Apply failed with 3 conflicts: conflicts with "one":\n- \.data\.a\n- \.data\.b\nconflicts with "patcher" using v1:\n- \.data\.c\n/,
  );
});

test("server-side apply removes fields that its manager no longer sets, unless another manager owns them", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("server-side-remove");
  await kubectl("apply --server-side --field-manager=one -f -", { input: aConfigMap("settings", { shared: "1", own: "1" }) });
  await kubectl("apply --server-side --field-manager=two -f -", { input: aConfigMap("settings", { shared: "1" }) });

  await kubectl("apply --server-side --field-manager=one -f -", { input: aConfigMap("settings", {}) });

  equal(await kubectl("get configmap settings -o jsonpath={.data}"), `{"shared":"1"}`);
  await kubectl("apply --server-side --field-manager=two -f -", {
    input: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } },
  });
  equal(await kubectl("get configmap settings -o jsonpath={.data}"), "");
});

test("server-side apply of the status subresource owns only the status", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("server-side-status");
  await kubectl("apply --server-side --field-manager=author -f -", { input: aDeployment("web", { replicas: 2 }) });
  const status = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, status: { replicas: 2, readyReplicas: 1 } };

  const line = "apply --server-side --subresource=status --field-manager=controller -f -";
  equal(await kubectl(line, { input: status }), "deployment.apps/web serverside-applied\n");

  const read = JSON.parse(await kubectl("get deployment web -o json --show-managed-fields"));
  deepEqual([read.status.readyReplicas, read.metadata.generation], [1, 1]);
  const managers: ManagedFields[] = read.metadata.managedFields;
  deepEqual(
    managers.map(({ manager, subresource, fieldsV1 }) => [manager, subresource, Object.keys(fieldsV1)]),
    [
      ["author", undefined, ["f:metadata", "f:spec"]],
      ["controller", "status", ["f:status"]],
    ],
  );
});

test("migration from client-side to server-side apply transfers field ownership and removes omitted fields", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("migrate");
  await kubectl("apply -f -", { input: aConfigMap("settings", { a: "1", b: "1" }) });

  equal(
    await kubectl("apply --server-side -f -", { input: aConfigMap("settings", { a: "2" }) }),
    "configmap/settings serverside-applied\n",
  );

  const { data, metadata } = JSON.parse(await kubectl("get configmap settings -o json --show-managed-fields"));
  deepEqual(data, { a: "2" });
  deepEqual(
    metadata.managedFields.map(({ manager, operation }: ManagedFields) => [manager, operation]),
    [
      ["kubectl-last-applied", "Apply"],
      ["kubectl", "Apply"],
    ],
  );
  equal(await kubectl("apply --server-side -f -", { input: aConfigMap("settings", {}) }), "configmap/settings serverside-applied\n");
  equal(await kubectl("get configmap settings -o jsonpath={.data}"), "");
});

test("kubectl diff shows what apply would change, and exits with 1 if anything would", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("diff");
  await kubectl("apply -f -", { input: aDeployment("web", { replicas: 2 }) });

  const same = await kubectl.run("diff -f -", { input: aDeployment("web", { replicas: 2 }) });
  const changed = await kubectl.run("diff -f -", { input: aDeployment("web", { replicas: 3 }) });
  const serverSide = await kubectl.run("diff --server-side --force-conflicts -f -", { input: aDeployment("web", { replicas: 4 }) });
  const added = await kubectl.run("diff -f -", { input: aConfigMap("new", { a: "1" }) });

  deepEqual(same, { code: 0, stdout: "", stderr: "" });
  equal(changed.code, 1);
  deepEqual(changes(changed.stdout), ["-  generation: 1", "+  generation: 2", "-  replicas: 2", "+  replicas: 3"]);
  deepEqual([serverSide.code, changes(serverSide.stdout).includes("+  replicas: 4")], [1, true]);
  deepEqual([added.code, changes(added.stdout).includes('+  a: "1"')], [1, true]);
  equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}"), "2");
});

/** The added and removed lines of a diff, without the file names. */
function changes(diff: string): string[] {
  return diff.split("\n").filter((line) => /^[-+](?![-+])/.test(line));
}

test("kubectl replace updates the whole object, and rejects an old resourceVersion", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("replace");
  await kubectl("create configmap settings --from-literal=a=1 --from-literal=b=2");
  const read = JSON.parse(await kubectl("get configmap settings -o json"));

  equal(await kubectl("replace -f -", { input: { ...read, data: { c: "3" } } }), "configmap/settings replaced\n");

  equal(await kubectl("get configmap settings -o jsonpath={.data}"), `{"c":"3"}`);
  equal(
    await kubectl.fails("replace -f -", { input: { ...read, data: { d: "4" } } }),
    `Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "settings": the object has been modified; please apply your changes to the latest version and try again\n`,
  );
  equal(await kubectl("replace -f -", { input: aConfigMap("settings", { e: "5" }) }), "configmap/settings replaced\n");
  equal(
    await kubectl.fails("replace -f -", { input: aConfigMap("other") }),
    `Error from server (NotFound): error when replacing "STDIN": configmaps "other" not found\n`,
  );
});

test("kubectl replace --force deletes and recreates", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("replace-force");
  await kubectl("create configmap settings --from-literal=a=1");
  const uid = await kubectl("get configmap settings -o jsonpath={.metadata.uid}");

  const output = await kubectl("replace --force -f -", { input: aConfigMap("settings", { b: "2" }) });

  match(output, /^configmap "settings" deleted.*\nconfigmap\/settings replaced\n$/);
  const { metadata, data } = JSON.parse(await kubectl("get configmap settings -o json"));
  deepEqual([metadata.uid === uid, data], [false, { b: "2" }]);
});

test("kubectl edit opens the object in an editor and sends the changes", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("edit");
  await kubectl("create deployment web --image=example/web:1");
  const editor = await anEditor("sed -i 's/replicas: 1/replicas: 3/' \"$1\"");
  const idle = await anEditor("true");

  equal(await kubectl("edit deployment web", { environment: { EDITOR: editor } }), "deployment.apps/web edited\n");
  match((await kubectl.run("edit deployment web", { environment: { EDITOR: idle } })).stderr, /^Edit cancelled, no changes made\.\n$/);
  equal(
    await kubectl("edit deployment web --subresource=status", {
      environment: { EDITOR: await anEditor("sed -i 's/^status:.*/status:\\n  observedGeneration: 2/' \"$1\"") },
    }),
    "deployment.apps/web edited\n",
  );

  equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}/{.metadata.generation}/{.status.observedGeneration}"), "3/2/2");
});

test("kubectl edit reopens the editor with the server's error", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("edit-refused");
  await kubectl("create deployment web --image=example/web:1");
  // The first edit makes the object invalid; the second finds the error in the file and saves it unchanged, so kubectl gives up.
  const editor = await anEditor("sed -i 's/^  replicas: 1/  replicas: -1/' \"$1\"");

  const error = await kubectl.fails("edit deployment web", { environment: { EDITOR: editor } });

  match(error, /^error: deployments.apps "web" is invalid\n/);
  match(error, /A copy of your changes has been stored to/);
  equal(await kubectl("get deployment web -o jsonpath={.spec.replicas}"), "1");
});

let editors = 0;

/** An editor program that modifies its file. */
async function anEditor(script: string): Promise<string> {
  editors += 1;
  const path = join(server.directory, `editor-${editors}`);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}
