/** What the real kubectl discovers about the server and its kinds: discovery, OpenAPI v3 and v2, the version. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";

const server = await startTestApiServer();
after(() => server.close());

/** Collapses the spaces of a table; an empty cell counts as one. */
function cells(line: string): string {
  return line.trim().replace(/ +/g, " ");
}

const EVERYTHING = "create,delete,deletecollection,get,list,patch,update,watch";

test("kubectl api-resources -o wide shows every kind with its short names, group, verbs and categories", needs("kubectl"), async () => {
  const [header = "", ...lines] = (await server.kubectl("api-resources -o wide")).trimEnd().split("\n").map(cells);

  equal(header, "NAME SHORTNAMES APIVERSION NAMESPACED KIND VERBS CATEGORIES");
  const expected = [
    `configmaps cm v1 true ConfigMap ${EVERYTHING}`,
    `events ev v1 true Event ${EVERYTHING}`,
    `namespaces ns v1 false Namespace create,delete,get,list,patch,update,watch`,
    `nodes no v1 false Node ${EVERYTHING}`,
    `pods po v1 true Pod ${EVERYTHING} all`,
    `secrets v1 true Secret ${EVERYTHING}`,
    `services svc v1 true Service ${EVERYTHING} all`,
    `deployments deploy apps/v1 true Deployment ${EVERYTHING} all`,
    `replicasets rs apps/v1 true ReplicaSet ${EVERYTHING} all`,
    `subjectaccessreviews authorization.k8s.io/v1 false SubjectAccessReview create`,
    `horizontalpodautoscalers hpa autoscaling/v2 true HorizontalPodAutoscaler ${EVERYTHING} all`,
    `leases coordination.k8s.io/v1 true Lease ${EVERYTHING}`,
    `events ev events.k8s.io/v1 true Event ${EVERYTHING}`,
  ];
  deepEqual(
    lines.filter((line) => expected.includes(line)),
    expected,
  );
});

test("kubectl api-resources filters by group, scope, verb and category", needs("kubectl"), async () => {
  const names = async (flags: string) => (await server.kubectl(`api-resources -o name ${flags}`)).trimEnd().split("\n");

  deepEqual(
    (await names("--api-group=apps")).filter((name) => /deployments|replicasets/.test(name)),
    ["deployments.apps", "replicasets.apps"],
  );
  const cluster = await names("--namespaced=false --api-group=");
  deepEqual([cluster.includes("nodes"), cluster.includes("pods")], [true, false]);
  equal((await names("--verbs=deletecollection")).includes("namespaces"), false);
  deepEqual(
    (await names("--categories=all")).filter((name) => /^(pods|services|deployments.apps|configmaps)$/.test(name)),
    ["pods", "services", "deployments.apps"],
  );
});

test("kubectl api-versions lists the groups sorted by name", needs("kubectl"), async () => {
  const versions = (await server.kubectl("api-versions")).trimEnd().split("\n");

  deepEqual(versions, [...versions].sort());
  const ours = [
    "apps/v1",
    "authorization.k8s.io/v1",
    "autoscaling/v1",
    "autoscaling/v2",
    "coordination.k8s.io/v1",
    "events.k8s.io/v1",
    "v1",
  ];
  deepEqual(
    versions.filter((version) => ours.includes(version)),
    ours,
  );
});

test("kubectl version finds a 1.36 server and prints no skew warning", needs("kubectl"), async () => {
  const { stdout, stderr } = await server.kubectl.run("version");

  match(stdout, /^Server Version: v1\.36\.\d+/m);
  equal(stderr, "");
  const { serverVersion } = JSON.parse(await server.kubectl("version -o json")) as { readonly serverVersion: Record<string, string> };
  deepEqual([serverVersion["major"], serverVersion["minor"]], ["1", "36"]);
});

test("kubectl explain describes a field with its type, its values and its subfields", needs("kubectl"), async () => {
  const text = await server.kubectl("explain deployment.spec.strategy");

  equal(
    text.trimEnd(),
    `GROUP:      apps
KIND:       Deployment
VERSION:    v1

FIELD: strategy <DeploymentStrategy>


DESCRIPTION:
    The deployment strategy to use to replace existing pods with new ones.
    DeploymentStrategy describes how to replace existing pods with new ones.
    
FIELDS:
  rollingUpdate	<RollingUpdateDeployment>
    Rolling update config params. Present only if DeploymentStrategyType =
    RollingUpdate.

  type	<string>
  enum: Recreate, RollingUpdate
    Type of deployment. Can be "Recreate" or "RollingUpdate". Default is
    RollingUpdate.
    
    Possible enum values:
     - \`"Recreate"\` Kill all existing pods before creating new ones.
     - \`"RollingUpdate"\` Replace the old ReplicaSets by new one using rolling
    update i.e gradually scale down the old ReplicaSets and scale up the new
    one.`,
  );
});

test("kubectl explain --recursive lists all nested fields", needs("kubectl"), async () => {
  const text = await server.kubectl("explain pods --recursive");

  match(text, /^KIND: {7}Pod\nVERSION: {4}v1\n/);
  match(text, /^ {6}livenessProbe\t<Probe>\n {8}exec\t<ExecAction>\n {10}command\t<\[\]string>\n {8}failureThreshold\t<integer>$/m);
  match(text, /^ {6}ports\t<\[\]ContainerPort>\n {8}containerPort\t<integer> -required-$/m);
  match(text, /^ {4}labels\t<map\[string\]string>$/m);
});

test("kubectl explain -o plaintext-openapiv2 reads the OpenAPI v2 document", needs("kubectl"), async () => {
  const text = await server.kubectl("explain deployment.spec.strategy -o plaintext-openapiv2");

  match(text, /^KIND: {5}Deployment\nVERSION: {2}apps\/v1\n\nRESOURCE: strategy <Object>\n\nDESCRIPTION:\n {5}The deployment strategy/);
  match(text, /^ {3}rollingUpdate\t<Object>\n {5}Rolling update config params\./m);
});

test("kubectl explain uses the preferred version of a kind, or the requested one", needs("kubectl"), async () => {
  match(await server.kubectl("explain hpa.spec.behavior"), /^VERSION: {4}v2$/m);
  match(await server.kubectl("explain hpa.spec.targetCPUUtilizationPercentage --api-version=autoscaling/v1"), /^VERSION: {4}v1$/m);
});

test("kubectl explain reports an unknown field or kind", needs("kubectl"), async () => {
  equal(await server.kubectl.fails("explain deployment.spec.nope"), `error: field "nope" does not exist\n`);
  equal(await server.kubectl.fails("explain nopes"), `the server doesn't have a resource type "nopes"\n`);
});

test("kubectl get --raw reads any path and reports unknown ones", needs("kubectl"), async () => {
  equal(await server.kubectl("get --raw /readyz"), "ok");
  match(await server.kubectl("get --raw '/livez?verbose'"), /^\[\+\]ping ok$[^]*^livez check passed$/m);
  const names = JSON.parse(await server.kubectl("get --raw /api/v1/namespaces/default")) as {
    readonly metadata: { readonly name: string };
  };
  equal(names.metadata.name, "default");
  match(await server.kubectl("get --raw /metrics"), /^apiserver_request_total\{/m);
  equal(
    await server.kubectl.fails("get --raw /api/v1/nothing"),
    "Error from server (NotFound): the server could not find the requested resource\n",
  );
});

test("kubectl cluster-info prints the address, and an unknown kind is reported", needs("kubectl"), async () => {
  match(await server.kubectl("cluster-info"), new RegExp(`is running at .*${server.url}`));
  equal(await server.kubectl.fails("get nothings"), `error: the server doesn't have a resource type "nothings"\n`);
});
