/**
 * The real Helm under a service account with the minimal permissions of a chart in one namespace, as in CI pipelines: there it takes the
 * chart through its lifecycle; elsewhere, or with a chart that requires more, it is forbidden, and only objects that Helm tracks remain.
 */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { kubeconfigOf, tokenOf } from "./identities.ts";
import { chartDirectory, Kinds } from "./released-chart.ts";

const server = await startTestApiServer();
after(() => server.close());
const kinds = await Kinds.of(server);

const WEB_APP = chartDirectory("web-app");
const OPERATOR = chartDirectory("operator");

/** Without the chart's own kind, and the object of it. */
const WITHOUT_KINDS = "--skip-crds --set firstBackup=null";

/** The kinds in the chart "web-app", and the Secrets in which Helm stores its releases. */
const NEEDED = "configmaps,secrets,services,serviceaccounts,deployments.apps";

interface Pipeline {
  readonly helm: ClientProgram;
  /** The administrator's client. */
  readonly kubectl: ClientProgram;
  /** Objects that the test itself has created in the namespace. */
  readonly given: readonly string[];
}

/** Creates a namespace with a service account "pipeline", which may read and write `resources` there. */
async function aPipeline(namespace: string, resources = NEEDED): Promise<Pipeline> {
  const kubectl = await server.inNamespace(namespace);
  await kubectl("create serviceaccount pipeline");
  await kubectl(`create role pipeline --verb=get,list,create,update,patch,delete --resource=${resources}`);
  await kubectl(`create rolebinding pipeline --role=pipeline --serviceaccount=${namespace}:pipeline`);
  const kubeconfig = await kubeconfigOf(server, namespace, { token: await tokenOf(kubectl, "pipeline") });
  const given = ["ServiceAccount/pipeline", "RoleBinding/pipeline", "Role/pipeline"];
  return { helm: server.helm.with(`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`), kubectl, given };
}

/** Everything in the namespace, and all cluster-scoped objects created from there, except for the initial ones. */
async function leftIn(namespace: string, given: readonly string[] = []): Promise<readonly string[]> {
  return (await kinds.leftIn(namespace)).filter((name) => !given.includes(name));
}

function user(namespace: string): string {
  return `User "system:serviceaccount:${namespace}:pipeline"`;
}

test(
  "Helm installs, upgrades, rolls back and uninstalls with only the permissions that the chart needs",
  needs("helm", "kubectl"),
  async () => {
    const { helm, kubectl, given } = await aPipeline("allowed");
    const replicas = () => kubectl("get deployment web-web-app -o jsonpath={.spec.replicas}");

    match(await helm(`install web ${WEB_APP}`), /^STATUS: deployed$/m);
    equal(await replicas(), "2");
    match(await helm(`upgrade web ${WEB_APP} --set replicas=3`), /^STATUS: deployed\nREVISION: 2$/m);
    equal(await replicas(), "3");
    match(await helm("rollback web 1"), /^Rollback was a success!/);
    equal(await replicas(), "2");
    deepEqual(
      (JSON.parse(await helm("list -o json")) as { readonly name: string; readonly revision: string }[]).map(({ name, revision }) => [
        name,
        revision,
      ]),
      [["web", "3"]],
    );
    equal(await helm("uninstall web"), `release "web" uninstalled\n`);

    deepEqual(await leftIn("allowed", given), []);
  },
);

test("Helm is forbidden to install in another namespace and leaves nothing there", needs("helm", "kubectl"), async () => {
  const { helm } = await aPipeline("mine");
  await server.makeNamespace("theirs");
  const elsewhere = helm.with("--namespace=theirs");
  const cannot = (verb: string, resource: string) => `forbidden: ${user("mine")} cannot ${verb} resource "${resource}" in API group ""`;

  equal(
    await elsewhere.fails(`install web ${WEB_APP}`),
    `Error: INSTALLATION FAILED: unable to continue with install: could not get information about the resource ServiceAccount "web-web-app" in namespace "theirs": serviceaccounts "web-web-app" is ${cannot("get", "serviceaccounts")} in the namespace "theirs"\n`,
  );
  equal(
    await elsewhere.fails("status web"),
    `Error: query: failed to query with labels: secrets is ${cannot("list", "secrets")} in the namespace "theirs"\n`,
  );
  equal(
    await helm.fails("list --all-namespaces"),
    `Error: list: failed to list: secrets is ${cannot("list", "secrets")} at the cluster scope\n`,
  );
  await helm.with("--namespace=new").fails(`install web ${WEB_APP} --create-namespace`);

  deepEqual(await leftIn("theirs"), []);
  equal(await server.kubectl("get namespace new --ignore-not-found"), "");
});

test("Helm is forbidden to install a chart with cluster-scoped objects", needs("helm", "kubectl"), async () => {
  const { helm, given } = await aPipeline("cluster-wide");
  const cannot = (verb: string, resource: string, group: string) =>
    `is forbidden: ${user("cluster-wide")} cannot ${verb} resource "${resource}" in API group "${group}" at the cluster scope\n`;

  const withKinds = await helm.fails(`install backup ${OPERATOR}`);
  const withRoles = await helm.fails(`install backup ${OPERATOR} ${WITHOUT_KINDS}`);

  equal(withKinds.endsWith(cannot("patch", "customresourcedefinitions", "apiextensions.k8s.io")), true, withKinds);
  equal(withRoles.endsWith(cannot("get", "clusterroles", "rbac.authorization.k8s.io")), true, withRoles);
  deepEqual(await leftIn("cluster-wide", given), []);
});

test("Helm cannot grant permissions by a chart that its user does not have", needs("helm", "kubectl"), async () => {
  const { helm, kubectl, given } = await aPipeline("escalation", `${NEEDED},leases.coordination.k8s.io`);
  await kubectl(
    "create clusterrole make-roles --verb=get,create,patch,delete --resource=clusterroles,clusterrolebindings,roles,rolebindings",
  );
  await kubectl("create clusterrolebinding make-roles --clusterrole=make-roles --serviceaccount=escalation:pipeline");

  const error = await helm.fails(`install backup ${OPERATOR} ${WITHOUT_KINDS}`);

  match(
    error,
    /clusterroles\.rbac\.authorization\.k8s\.io "backup-operator-\w+" is forbidden: user "system:serviceaccount:escalation:pipeline"/,
  );
  match(error, /is attempting to grant RBAC permissions not currently held:/);
  await helm("uninstall backup");
  deepEqual(await leftIn("escalation", given), []);
});

test("an install that is forbidden half-way is recorded as failed, and Helm can uninstall it", needs("helm", "kubectl"), async () => {
  // It may read and delete Services, so it fails only when it creates one.
  const { helm, kubectl, given } = await aPipeline("half-way", "configmaps,secrets,serviceaccounts,deployments.apps");
  await kubectl("create role look --verb=get,delete --resource=services");
  await kubectl("create rolebinding look --role=look --serviceaccount=half-way:pipeline");
  const cannot = (verb: string) =>
    `services "web-web-app" is forbidden: ${user("half-way")} cannot ${verb} resource "services" in API group "" in the namespace "half-way"`;

  const error = await helm.fails(`install web ${WEB_APP}`);

  equal(error.includes(cannot("patch")), true, error);
  match(await helm("status web"), /^STATUS: failed$/m);
  await helm("uninstall web");
  deepEqual(await leftIn("half-way", [...given, "Role/look", "RoleBinding/look"]), []);
});

test("Helm with the token of a deleted service account is unauthorized", needs("helm", "kubectl"), async () => {
  const { helm, kubectl } = await aPipeline("fired");
  await helm(`install web ${WEB_APP}`);
  await kubectl("delete serviceaccount pipeline");

  match(await helm.fails("uninstall web"), /the server has asked for the client to provide credentials|Unauthorized/);

  equal(await kubectl("get deployments -o name"), "deployment.apps/web-web-app\n");
});
