/** The real kubectl changes objects in place: patches of every type, labels, scale, set, rollout, and node commands. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { aDeployment, aNode, aPod } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

test("a strategic merge patch merges lists by their keys", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("strategic");
  const containers = [
    { name: "web", image: "example/web:1" },
    { name: "side", image: "example/side:1" },
  ];
  await kubectl("create -f -", { input: aDeployment("web", { containers }) });
  const patch = (containers: object) => `'${JSON.stringify({ spec: { template: { spec: { containers } } } })}'`;

  equal(await kubectl(`patch deployment web -p ${patch([{ name: "side", image: "example/side:2" }])}`), "deployment.apps/web patched\n");
  equal(await kubectl(`patch deployment web -p ${patch([{ name: "web", $patch: "delete" }])}`), "deployment.apps/web patched\n");
  equal(
    await kubectl(`patch deployment web -p ${patch([{ name: "side", image: "example/side:2" }])}`),
    "deployment.apps/web patched (no change)\n",
  );

  equal(
    await kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}/{.metadata.generation}"),
    "example/side:2/3",
  );
});

test("a merge patch replaces lists and removes fields by null", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("merge");
  await kubectl("create configmap settings --from-literal=a=1 --from-literal=b=2");

  await kubectl(`patch configmap settings --type=merge -p '{"data":{"a":null,"c":"3"}}'`);

  equal(await kubectl("get configmap settings -o jsonpath={.data}"), `{"b":"2","c":"3"}`);
});

test("a JSON patch applies its operations in order, or none of them", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("json-patch");
  await kubectl("create configmap settings --from-literal=a=1");
  const steps = (...list: readonly object[]) => `patch configmap settings --type=json -p '${JSON.stringify(list)}'`;

  await kubectl(
    steps(
      { op: "test", path: "/data/a", value: "1" },
      { op: "copy", from: "/data/a", path: "/data/b" },
      { op: "replace", path: "/data/a", value: "2" },
    ),
  );
  const failed = await kubectl.fails(steps({ op: "replace", path: "/data/a", value: "9" }, { op: "test", path: "/data/b", value: "7" }));
  const missing = await kubectl.fails(steps({ op: "remove", path: "/data/nope" }));

  equal(await kubectl("get configmap settings -o jsonpath={.data}"), `{"a":"2","b":"1"}`);
  equal(failed, "The request is invalid: the server rejected our request due to an error in our request\n");
  equal(missing, "The request is invalid: the server rejected our request due to an error in our request\n");
});

test("kubectl patch --subresource changes only the subresource", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("subresource");
  await kubectl("create -f -", { input: aDeployment("web", { replicas: 1 }) });
  const both = (type: string) =>
    `patch deployment web --subresource=status --type=${type} -p '{"spec":{"replicas":9},"status":{"replicas":4}}'`;

  equal(await kubectl(both("merge")), "deployment.apps/web patched\n");
  await kubectl(`patch deployment web --subresource=status --type=json -p '[{"op":"add","path":"/status/readyReplicas","value":3}]'`);
  await kubectl(
    `patch deployment web --subresource=status -p '{"status":{"conditions":[{"type":"Available","status":"True","reason":"R","message":"m"}]}}'`,
  );
  await kubectl(`patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":7}}'`);
  await kubectl(`patch deployment web -p '{"status":{"replicas":8}}'`);

  const { spec, status } = JSON.parse(await kubectl("get deployment web -o json"));
  deepEqual([spec.replicas, status.replicas, status.readyReplicas, status.conditions.length], [7, 4, 3, 1]);
  equal(
    await kubectl("get deployment web --subresource=scale -o jsonpath={.kind}/{.spec.replicas}/{.status.replicas}/{.status.selector}"),
    "Scale/7/4/app=web",
  );
  match(await kubectl("get deployment web --subresource=status"), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +3\/7 +0 +0 +\w+\n$/);
});

test("an invalid patch is rejected with the field", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("patch-refused");
  await kubectl("create -f -", { input: aDeployment("web") });

  equal(
    await kubectl.fails(`patch deployment web -p '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}'`),
    `The Deployment "web" is invalid: 
* spec.template.metadata.labels: Invalid value: {"app":"web"}: \`selector\` does not match template \`labels\`
* spec.selector: Invalid value: {"matchLabels":{"app":"web","x":"y"}}: field is immutable\n`,
  );
  equal(await kubectl.fails(`patch deployment nope -p '{}'`), `Error from server (NotFound): deployments.apps "nope" not found\n`);
  equal(
    await kubectl.fails(`patch deployment web --type=merge -p '{"metadata":{"resourceVersion":"1"}}'`),
    `Error from server (Conflict): Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again\n`,
  );
});

test("a Service that changes its type loses the fields of the old type", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("service-type");
  await kubectl("create service nodeport web --tcp=80");
  const become = async (spec: object) => {
    await kubectl(`patch service web --type=merge -p '${JSON.stringify({ spec })}'`);
    const { clusterIP, ports, ...rest } = JSON.parse(await kubectl("get service web -o json")).spec;
    return { hasAddress: clusterIP !== undefined, hasNodePort: ports[0].nodePort !== undefined, ...rest };
  };

  const common = { sessionAffinity: "None", selector: { app: "web" } };
  deepEqual(await become({ type: "ExternalName", externalName: "db.example" }), {
    ...{ hasAddress: false, hasNodePort: false, type: "ExternalName", externalName: "db.example" },
    ...common,
  });
  const { clusterIPs, ...inner } = await become({ type: "ClusterIP", externalName: null });
  equal(clusterIPs.length, 1);
  deepEqual(inner, {
    ...{
      hasAddress: true,
      hasNodePort: false,
      type: "ClusterIP",
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    },
    ...common,
  });
});

test("kubectl label and annotate add, refuse to overwrite, overwrite and remove", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("label");
  await kubectl("create configmap one");
  await kubectl("create configmap two");

  equal(await kubectl("label configmap one tier=web env=test"), "configmap/one labeled\n");
  equal(await kubectl.fails("label configmap one tier=db"), "error: 'tier' already has a value (web), and --overwrite is false\n");
  equal(await kubectl("label configmap one tier=db --overwrite env-"), "configmap/one modified\n");
  equal(await kubectl("label configmap one gone-"), `label "gone" not found.\nconfigmap/one not labeled\n`);
  equal(await kubectl("label configmaps one two all=yes"), "configmap/one labeled\nconfigmap/two labeled\n");
  equal(
    await kubectl.fails("label configmap one tier=cache --overwrite --resource-version=1").then((error) => error.split(":")[0]),
    "Error from server (Conflict)",
  );
  equal(await kubectl("annotate configmap one note='two words'"), "configmap/one annotated\n");
  equal(await kubectl("annotate configmap one note-"), "configmap/one annotated\n");

  equal(
    await kubectl("get configmaps --no-headers -o custom-columns=N:.metadata.name,L:.metadata.labels"),
    "one   map[all:yes tier:db]\ntwo   map[all:yes]\n",
  );
  equal(await kubectl("get configmap one -o jsonpath={.metadata.annotations}"), "");
  // In the order of Go's maps, which is undefined.
  deepEqual((await kubectl("label configmap one --list")).trimEnd().split("\n").sort(), ["all=yes", "tier=db"]);
});

test("kubectl scale uses the scale subresource of each kind, with preconditions", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("scale");
  await kubectl("create deployment web --image=example/web --replicas=2");
  const { spec } = aDeployment("set");
  await kubectl("create -f -", { input: { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "set" }, spec } });

  equal(await kubectl("scale deployment web --replicas=4"), "deployment.apps/web scaled\n");
  equal(await kubectl("scale deployment/web rs/set --replicas=3"), "deployment.apps/web scaled\nreplicaset.apps/set scaled\n");
  equal(await kubectl.fails("scale deployment web --current-replicas=1 --replicas=5"), "error: Expected replicas to be 1, was 3\n");
  equal(await kubectl("scale deployment web --current-replicas=3 --replicas=5"), "deployment.apps/web scaled\n");

  equal(await kubectl("get deployment,replicaset -o jsonpath={.items[*].spec.replicas}"), "5 3");
  equal(await kubectl.fails("scale deployment nope --replicas=1"), `Error from server (NotFound): deployments.apps "nope" not found\n`);
});

test("kubectl set changes image, environment, resources and selector", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("set");
  await kubectl("create deployment web --image=example/web:1");
  await kubectl("create configmap settings --from-literal=LEVEL=debug");
  await kubectl("create service clusterip web --tcp=80");

  equal(await kubectl("set image deployment/web web=example/web:2"), "deployment.apps/web image updated\n");
  equal(await kubectl("set env deployment/web A=1 B=2"), "deployment.apps/web env updated\n");
  equal(await kubectl("set env deployment/web A- --from=configmap/settings"), "deployment.apps/web env updated\n");
  equal(
    await kubectl("set resources deployment web --limits=cpu=1.5,memory=1024Mi --requests=cpu=500m"),
    "deployment.apps/web resource requirements updated\n",
  );
  equal(await kubectl("set selector service web app=other"), "service/web selector updated\n");
  equal(await kubectl("set serviceaccount deployment web robot"), "deployment.apps/web serviceaccount updated\n");

  const { spec } = JSON.parse(await kubectl("get deployment web -o json")).spec.template;
  const [container] = spec.containers;
  equal(container.image, "example/web:2");
  deepEqual(container.env, [
    { name: "B", value: "2" },
    { name: "LEVEL", valueFrom: { configMapKeyRef: { key: "LEVEL", name: "settings" } } },
  ]);
  deepEqual(container.resources, { limits: { cpu: "1500m", memory: "1Gi" }, requests: { cpu: "500m" } });
  deepEqual([spec.serviceAccountName, spec.serviceAccount], ["robot", "robot"]);
  equal(await kubectl("get service web -o jsonpath={.spec.selector}"), `{"app":"other"}`);
  equal(
    await kubectl("set env deployment/web --list"),
    "# Deployment web, container web\nB=2\n# LEVEL from configmap settings, key LEVEL\n",
  );
});

test("kubectl rollout restarts, pauses, waits for the status, and reads the history from ReplicaSets", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("rollout");
  await kubectl("create deployment web --image=example/web:1 --replicas=2");

  equal(await kubectl("rollout restart deployment/web"), "deployment.apps/web restarted\n");
  match(
    await kubectl("get deployment web -o 'jsonpath={.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}'"),
    /^\d{4}-/,
  );
  equal(await kubectl("rollout pause deployment/web"), "deployment.apps/web paused\n");
  equal(await kubectl.fails("rollout pause deployment/web"), 'error: deployments.apps "web" is already paused\n');
  equal(await kubectl("rollout resume deployment/web"), "deployment.apps/web resumed\n");

  const uid = await kubectl("get deployment web -o jsonpath={.metadata.uid}");
  await kubectl("create -f -", { input: aRevision("web-1", { revision: 1, uid }) });
  equal(await kubectl("rollout history deployment/web"), "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n\n");
  match(await kubectl("rollout history deployment/web --revision=1"), /Containers:\n {3}web:\n {4}Image:\texample\/web:1\n/);

  await kubectl("set image deployment/web web=example/web:2");
  equal(await kubectl("rollout undo deployment/web --to-revision=1"), "deployment.apps/web rolled back\n");
  equal(await kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"), "example/web:1");
  equal(await kubectl.fails("rollout undo deployment/web --to-revision=7"), "error: unable to find specified revision 7 in history\n");

  await using status = kubectl.start("rollout status deployment/web");
  equal(await status.line(), `Waiting for deployment spec update to be observed...`);
  const done = { observedGeneration: 20, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
  await kubectl(
    `patch deployment web --subresource=status --type=merge -p '${JSON.stringify({ status: { ...done, observedGeneration: 19, availableReplicas: 1, readyReplicas: 1 } })}'`,
  );
  equal(await status.line(), `Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are available...`);
  await kubectl(`patch deployment web --subresource=status --type=merge -p '${JSON.stringify({ status: done })}'`);
  deepEqual(await status.rest(), [`deployment "web" successfully rolled out`]);
});

test("ephemeral containers and resizes reach a pod through their subresources", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("pod-parts");
  const container = { name: "main", image: "example/app:1", resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } } };
  // Upstream admits a resize only if the pod's node has capacity for it.
  await kubectl("create -f -", { input: { ...aNode("resizing"), status: { allocatable: { cpu: "4" } } } });
  await kubectl("create -f -", { input: aPod("app", { containers: [container], nodeName: "resizing" }) });
  const resources = { spec: { containers: [{ name: "main", resources: { requests: { cpu: "150m" } } }] } };

  await kubectl("debug app --image=example/tools -c tools --profile=general --attach=false -- look");
  equal(await kubectl(`patch pod app --subresource=resize -p '${JSON.stringify(resources)}'`), "pod/app patched\n");

  const { spec } = JSON.parse(await kubectl("get pod app -o json"));
  const [{ name, image, command }] = spec.ephemeralContainers;
  deepEqual({ name, image, command }, { name: "tools", image: "example/tools", command: ["look"] });
  deepEqual(spec.containers[0].resources, { requests: { cpu: "150m" }, limits: { cpu: "200m" } });
  match(
    await kubectl.fails(`patch pod app -p '${JSON.stringify(resources).replace("150m", "180m")}'`),
    /^The Pod "app" is invalid: spec: Forbidden: pod updates may not change fields other than/,
  );
});

/** As the deployment controller would create it. */
function aRevision(name: string, { revision, uid }: { readonly revision: number; readonly uid: string }): object {
  const labels = { app: "web", "pod-template-hash": name };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name,
      labels,
      annotations: { "deployment.kubernetes.io/revision": String(revision) },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller: true }],
    },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "example/web:1" }] } },
    },
  };
}

test("kubectl cordons, uncordons and taints nodes", needs("kubectl"), async () => {
  const { kubectl } = server;
  await kubectl("create -f -", { input: aNode("worker") });

  equal(await kubectl("cordon worker"), "node/worker cordoned\n");
  equal(await kubectl("cordon worker"), "node/worker already cordoned\n");
  match(await kubectl("get node worker --no-headers"), /^worker +Unknown,SchedulingDisabled +<none> +\w+\s*$/);
  equal(await kubectl("uncordon worker"), "node/worker uncordoned\n");
  equal(await kubectl("taint node worker dedicated=db:NoSchedule"), "node/worker tainted\n");
  equal(
    await kubectl.fails("taint node worker dedicated=web:NoSchedule"),
    "error: node worker already has dedicated taint(s) with same effect(s) and --overwrite is false\n",
  );
  equal(await kubectl("taint node worker dedicated=web:NoSchedule --overwrite"), "node/worker modified\n");

  // A node is created with a taint, until its kubelet reports that it is ready.
  const born = `{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}`;
  equal(
    await kubectl("get node worker -o jsonpath={.spec}"),
    `{"taints":[{"effect":"NoSchedule","key":"dedicated","value":"web"},${born}]}`,
  );
  equal(await kubectl("taint node worker dedicated-"), "node/worker untainted\n");
  equal(await kubectl("get node worker -o jsonpath={.spec}"), `{"taints":[${born}]}`);
});

test("kubectl drain evicts the pods of a node", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("drain");
  await kubectl("create -f -", { input: aNode("leaving") });
  // No kubelet runs this pod, so it is deleted without grace.
  await kubectl("create -f -", { input: aPod("idle", { nodeName: "leaving" }) });

  const { stdout } = await kubectl.run("drain leaving --force --grace-period=0 --timeout=20s");

  match(stdout, /^node\/leaving cordoned\n/);
  match(stdout, /^evicting pod drain\/idle\n/m);
  match(stdout, /^pod\/idle evicted\nnode\/leaving drained\n$/m);
});

test("a SubjectAccessReview is answered and not stored", needs("kubectl"), async () => {
  const review = (groups: readonly string[]) => ({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: "jane", groups, resourceAttributes: { verb: "get", resource: "pods", namespace: "default" } },
  });

  // To validate a kind that cannot be patched, kubectl looks for custom resources, which this server does not have.
  const ask = async (groups: readonly string[]) =>
    JSON.parse(await server.kubectl("create -f - -o json --validate=false", { input: review(groups) }));
  const [allowed, refused] = [await ask(["system:masters"]), await ask([])];

  deepEqual([allowed.status.allowed, refused.status.allowed], [true, false]);
});
