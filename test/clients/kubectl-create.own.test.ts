/** The real kubectl creates objects: its generators, which send protobuf, files, and its messages when the server rejects them. */
import { deepEqual, equal, match } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { makeCertificates } from "../../src/testing/servers/etcd-server.ts";
import { needs } from "../../src/testing/needs.ts";
import { aConfigMap, aDeployment, aPod } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

test("kubectl create deployment sends protobuf, and the server sets defaults", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("create-deployment");

  equal(
    await kubectl("create deployment web --image=example/web:1 --replicas=2 --port=8080 -- serve --fast"),
    "deployment.apps/web created\n",
  );

  const { metadata, spec } = JSON.parse(await kubectl("get deployment web -o json"));
  deepEqual([metadata.generation, metadata.labels], [1, { app: "web" }]);
  deepEqual([spec.replicas, spec.revisionHistoryLimit, spec.progressDeadlineSeconds], [2, 10, 600]);
  deepEqual(spec.strategy, { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } });
  deepEqual(spec.template.spec.containers, [
    {
      name: "web",
      image: "example/web:1",
      command: ["serve", "--fast"],
      ports: [{ containerPort: 8080, protocol: "TCP" }],
      imagePullPolicy: "IfNotPresent",
      resources: {},
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    },
  ]);
});

test("kubectl create configmap accepts literals, files and an env file", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("create-configmap");
  const text = join(server.directory, "motd.txt");
  const bytes = join(server.directory, "logo.bin");
  const settings = join(server.directory, "settings.env");
  await writeFile(text, "hello\n");
  await writeFile(bytes, Buffer.from([0, 255, 1]));
  await writeFile(settings, "A=1\n# a comment\nB=two words\n");

  await kubectl(`create configmap files --from-literal=a=1 --from-literal=empty= --from-file=${text} --from-file=logo=${bytes}`);
  await kubectl(`create configmap settings --from-env-file=${settings}`);

  const files = JSON.parse(await kubectl("get configmap files -o json"));
  deepEqual([files.data, files.binaryData], [{ a: "1", empty: "", "motd.txt": "hello\n" }, { logo: "AP8B" }]);
  equal(await kubectl("get configmap settings -o jsonpath={.data}"), `{"A":"1","B":"two words"}`);
});

test("kubectl create secret creates all three types", needs("kubectl", "openssl"), async () => {
  const kubectl = await server.inNamespace("create-secret");

  await kubectl("create secret generic plain --from-literal=password=s3cret");
  await kubectl("create secret docker-registry pull --docker-server=registry.example --docker-username=me --docker-password=pw");
  await makeCertificates(server.directory);
  await kubectl(`create secret tls pair --cert=${join(server.directory, "server.crt")} --key=${join(server.directory, "server.key")}`);

  equal(
    await kubectl("get secrets --no-headers -o custom-columns=N:.metadata.name,T:.type"),
    "pair    kubernetes.io/tls\nplain   Opaque\npull    kubernetes.io/dockerconfigjson\n",
  );

  equal(await kubectl("get secret plain -o jsonpath={.data.password}"), Buffer.from("s3cret").toString("base64"));
  const config = Buffer.from(await kubectl("get secret pull -o 'jsonpath={.data.\\.dockerconfigjson}'"), "base64").toString();
  deepEqual(JSON.parse(config).auths["registry.example"].username, "me");
});

test("kubectl create service creates each type with its fields", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("create-service");

  await kubectl("create service clusterip inner --tcp=80:8080");
  await kubectl("create service clusterip headless --clusterip=None");
  await kubectl("create service nodeport outer --tcp=80 --node-port=30123");
  await kubectl("create service loadbalancer balanced --tcp=443:8443");
  await kubectl("create service externalname alias --external-name=db.example");

  const spec = async (name: string) => JSON.parse(await kubectl(`get service ${name} -o json`)).spec;
  const [inner, headless, outer] = [await spec("inner"), await spec("headless"), await spec("outer")];
  const [balanced, alias] = [await spec("balanced"), await spec("alias")];
  match(inner.clusterIP, /^10\.\d+\.\d+\.\d+$/);
  deepEqual([inner.clusterIPs, inner.ipFamilies, inner.ipFamilyPolicy], [[inner.clusterIP], ["IPv4"], "SingleStack"]);
  deepEqual([inner.type, inner.sessionAffinity, inner.internalTrafficPolicy], ["ClusterIP", "None", "Cluster"]);
  deepEqual(inner.ports, [{ name: "80-8080", port: 80, protocol: "TCP", targetPort: 8080 }]);
  deepEqual([headless.clusterIP, headless.clusterIPs], ["None", ["None"]]);
  equal(outer.ports[0].nodePort, 30123);
  deepEqual([balanced.type, balanced.allocateLoadBalancerNodePorts, balanced.ports[0].nodePort >= 30000], ["LoadBalancer", true, true]);
  deepEqual([alias.type, alias.externalName, alias.clusterIP], ["ExternalName", "db.example", undefined]);
});

test("a node port and a cluster IP are allocated only once", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("allocated-once");
  await kubectl("create service nodeport first --tcp=80 --node-port=30200");
  const address = await kubectl("get service first -o jsonpath={.spec.clusterIP}");

  const port = await kubectl.fails("create service nodeport second --tcp=80 --node-port=30200");
  const ip = await kubectl.fails(`create service clusterip third --tcp=80 --clusterip=${address}`);

  equal(
    port,
    `error: failed to create NodePort service: Service "second" is invalid: spec.ports[0].nodePort: Invalid value: 30200: provided port is already allocated\n`,
  );
  equal(
    ip,
    `error: failed to create ClusterIP service: Service "third" is invalid: spec.clusterIPs: Invalid value: ["${address}"]: failed to allocate IP ${address}: provided IP is already allocated\n`,
  );
});

test("kubectl create namespace creates an active namespace", needs("kubectl"), async () => {
  equal(await server.kubectl("create namespace made"), "namespace/made created\n");

  const { status, spec, metadata } = JSON.parse(await server.kubectl("get namespace made -o json"));
  deepEqual(
    [status, spec, metadata.labels],
    [{ phase: "Active" }, { finalizers: ["kubernetes"] }, { "kubernetes.io/metadata.name": "made" }],
  );
});

test("kubectl run creates a bare pod with defaults", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("run");

  equal(await kubectl("run once --image=example/job --restart=Never --env=A=1 --labels=app=once,x=y -- work hard"), "pod/once created\n");

  const { metadata, spec, status } = JSON.parse(await kubectl("get pod once -o json"));
  deepEqual(metadata.labels, { app: "once", x: "y" });
  deepEqual(
    [spec.restartPolicy, spec.dnsPolicy, spec.schedulerName, spec.terminationGracePeriodSeconds],
    ["Never", "ClusterFirst", "default-scheduler", 30],
  );
  deepEqual(
    [spec.containers[0].args, spec.containers[0].env, spec.containers[0].imagePullPolicy],
    [["work", "hard"], [{ name: "A", value: "1" }], "Always"],
  );
  deepEqual(status, { phase: "Pending", qosClass: "BestEffort" });
});

test("kubectl expose creates a Service from the labels and ports of the exposed object", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("expose");
  await kubectl("create deployment web --image=example/web --port=8080");

  equal(await kubectl("expose deployment web --port=80 --target-port=http --name=front"), "service/front exposed\n");
  equal(await kubectl("expose deployment web --type=NodePort"), "service/web exposed\n");

  equal(
    await kubectl("get service front -o jsonpath={.spec.selector},{.spec.ports}"),
    `{"app":"web"},[{"port":80,"protocol":"TCP","targetPort":"http"}]`,
  );
  equal(await kubectl("get service web -o jsonpath={.spec.ports[0].port}/{.spec.ports[0].targetPort}"), "8080/8080");
});

test("kubectl autoscale creates an autoscaler that is readable in both versions", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("autoscale");
  await kubectl("create deployment web --image=example/web");

  equal(await kubectl("autoscale deployment web --min=2 --max=5 --cpu=70%"), "horizontalpodautoscaler.autoscaling/web autoscaled\n");

  equal(await kubectl("get horizontalpodautoscalers.v1.autoscaling web -o jsonpath={.spec.targetCPUUtilizationPercentage}"), "70");
  const { spec } = JSON.parse(await kubectl("get horizontalpodautoscalers.v2.autoscaling web -o json"));
  deepEqual(spec, {
    maxReplicas: 5,
    minReplicas: 2,
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } }],
  });
});

test("kubectl create -f creates all documents of a file and reports those that failed", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("create-file");
  const input = `apiVersion: v1
kind: ConfigMap
metadata: { name: one }
data: { a: "1" }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: "Two" }
---
apiVersion: v1
kind: Pod
metadata: { generateName: worker- }
spec: { containers: [{ name: main, image: example/app }] }
`;
  const { code, stdout, stderr } = await kubectl.run("create -f -", { input });

  equal(code, 1);
  match(stdout, /^configmap\/one created\npod\/worker-[a-z0-9]{5} created\n$/);
  equal(
    stderr,
    `The ConfigMap "Two" is invalid: metadata.name: Invalid value: "Two": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n`,
  );
});

test("kubectl create --dry-run=server returns the object without storing it", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("dry-run");

  const made = JSON.parse(await kubectl("create service nodeport ghost --tcp=80 --dry-run=server -o json"));

  match(made.metadata.uid, /^[0-9a-f-]{36}$/);
  equal(made.metadata.resourceVersion, undefined);
  equal(await kubectl.fails("get service ghost"), `Error from server (NotFound): services "ghost" not found\n`);
  equal(await kubectl("create configmap ghost --dry-run=server"), "configmap/ghost created (server dry run)\n");
});

test("an unknown field is rejected, warned about or silently dropped, depending on --validate", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("validate");
  const input = `{ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "odd" }, "dta": {}, "immutable": false }`;

  const strict = await kubectl.fails("create -f - --validate=strict", { input });
  const warned = await kubectl.run("create -f - --validate=warn", { input });
  const ignored = await kubectl.run("replace -f - --validate=ignore", { input });

  equal(
    strict,
    `Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"\n`,
  );
  deepEqual(warned, { code: 0, stdout: "configmap/odd created\n", stderr: `Warning: unknown field "dta"\n` });
  deepEqual(ignored, { code: 0, stdout: "configmap/odd replaced\n", stderr: "" });
});

const REFUSED: readonly (readonly [title: string, line: string, input: object | undefined, words: string])[] = [
  ["that exists already", "create configmap taken", undefined, `error: failed to create configmap: configmaps "taken" already exists\n`],
  [
    "from a file that exists already",
    "create -f -",
    aConfigMap("taken"),
    `Error from server (AlreadyExists): error when creating "STDIN": configmaps "taken" already exists\n`,
  ],
  [
    "in a namespace that does not exist",
    "create -f -",
    aConfigMap("a", {}, { namespace: "nowhere" }),
    `error: the namespace from the provided object "nowhere" does not match the namespace "refused". You must pass '--namespace=nowhere' to perform this operation.\n`,
  ],
  [
    "whose selector does not fit its template",
    "create -f -",
    aDeployment("web", { selector: { matchLabels: { app: "other" } } }),
    `The Deployment "web" is invalid: spec.template.metadata.labels: Invalid value: {"app":"web"}: \`selector\` does not match template \`labels\`\n`,
  ],
  [
    "with several mistakes",
    "create -f -",
    aPod("pod", { restartPolicy: "Sometimes", containers: [{ name: "Main", ports: [{ containerPort: 99999 }] }] }),
    `The Pod "pod" is invalid: 
* spec.containers[0].name: Invalid value: "Main": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
* spec.containers[0].image: Required value
* spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive
* spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"\n`,
  ],
  [
    "of a type that does not fit",
    "create -f -",
    aDeployment("web", { replicas: "three" }),
    `Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32\n`,
  ],
  [
    "of a kind that does not exist",
    "create -f -",
    { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "x" } },
    `error: resource mapping not found for name: "x" namespace: "" from "STDIN": no matches for kind "Thing" in version "example.com/v1"\nensure CRDs are installed first\n`,
  ],
];

test("kubectl create prints the server's errors exactly as upstream's", needs("kubectl"), async (t) => {
  const kubectl = await server.inNamespace("refused");
  await kubectl("create configmap taken");
  for (const [title, line, input, words] of REFUSED) {
    await t.test(`something ${title}`, async () => equal(await kubectl.fails(line, input === undefined ? {} : { input }), words));
  }
  await t.test("something in a namespace that does not exist, by flag", async () =>
    equal(
      await server.kubectl.fails("create configmap a --namespace=nowhere"),
      `error: failed to create configmap: namespaces "nowhere" not found\n`,
    ),
  );
});
