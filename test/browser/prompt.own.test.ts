import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { startTabPrompt } from "./tab-prompt.ts";

test("the prompt prints tables, YAML, JSON and names like kubectl, in one namespace or all", async () => {
  await using tab = await startTabPrompt();
  equal((await tab.run("kubectl get pods")).text, "No resources found in default namespace.");
  equal((await tab.run("kubectl run web --image=nginx --labels=app=web")).text, "pod/web created");
  await tab.cluster.driver.advance(5_000);

  equal((await tab.run("kubectl get pods")).text, "NAME   READY   STATUS    RESTARTS   AGE\nweb    1/1     Running   0          5s");
  match((await tab.run("kubectl get pods -o wide")).text, /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE .*\nweb .* node-\d /);
  match((await tab.run("kubectl get pods -A --show-labels")).text, /^NAMESPACE +NAME .* LABELS\ndefault +web .* app=web,topology/);
  match((await tab.run("kubectl get pod web -o yaml")).text, /^apiVersion: v1\nkind: Pod\nmetadata:\n(?![^]*managedFields)/);
  equal(
    (JSON.parse((await tab.run("kubectl get pods -o json -l app=web")).text) as { readonly items: readonly unknown[] }).items.length,
    1,
  );
  equal((await tab.run("kubectl get deploy,po -o name")).text, "pod/web");
  match((await tab.run("kubectl get all")).text, /^NAME .*\npod\/web .*\n\nNAME .*\nservice\/kubernetes /);
  match(
    (await tab.run("kubectl describe pod web")).text,
    /^Name: +web\n[^]*Events:\n {2}Type +Reason +Age +From +Message\n[^]*Scheduled +5s +default-scheduler/,
  );
  equal((await tab.run("kubectl logs web")).outcome, "done");
});

test("mistakes and refusals are printed in kubectl's words", async () => {
  await using tab = await startTabPrompt();
  const rows = [
    ["kubectl get pod nothing", 'Error from server (NotFound): pods "nothing" not found'],
    ["kubectl get wrong", `error: the server doesn't have a resource type "wrong"`],
    ["kubectl get pods --wrong", "error: unknown flag: --wrong"],
    [
      "kubectl get pods -o wrong",
      'error: unable to match a printer suitable for the output format "wrong", allowed formats are: json,name,wide,yaml',
    ],
    ["kubectl create deployment web", 'error: required flag(s) "image" not set'],
    ["kubectl apply -f missing.yaml", 'error: the path "missing.yaml" does not exist'],
    ["kubectl create namespace default", 'Error from server (AlreadyExists): namespaces "default" already exists'],
    ["kubectl delete node nothing", 'Error from server (NotFound): nodes "nothing" not found'],
    ["cat missing", "error: cat: missing: No such file or directory"],
    ["k8ts node stop nothing", 'error: Simulated node "nothing" does not exist: there are node-0, node-1, node-2'],
  ];
  for (const [command = "", text] of rows) deepEqual(await tab.run(command), { outcome: "failed", text });
  match((await tab.run("kubectl run Bad --image=nginx")).text, /^Error from server \(Invalid\): Pod "Bad" is invalid: \[metadata.name/);
});

test("apply reports what it did; rollout, scale, set image, label, expose and delete work together", async () => {
  await using tab = await startTabPrompt();
  const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: VALUE}\n";
  const apply = async (value: string, flags = "") =>
    (await tab.run(`kubectl apply -f -${flags} <<EOF\n${manifest.replace("VALUE", value)}EOF`)).text;
  equal(await apply("one"), "configmap/a created");
  equal(await apply("one"), "configmap/a unchanged");
  equal(await apply("two", " --dry-run=server"), "configmap/a configured (server dry run)");
  equal(await apply("two"), "configmap/a configured");

  await tab.run("kubectl create deployment web --image=nginx:1 --replicas=2 --port=80");
  match((await tab.run("kubectl rollout status deployment/web")).text, /deployment "web" successfully rolled out$/);
  equal((await tab.run("kubectl set image deployment/web nginx=nginx:2")).text, "deployment.apps/web image updated");
  await tab.run("kubectl rollout status deployment/web");
  equal(
    (await tab.run("kubectl rollout history deployment/web")).text,
    "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>",
  );
  equal((await tab.run("kubectl rollout undo deployment/web")).text, "deployment.apps/web rolled back");
  match((await tab.run("kubectl get deployment web -o yaml")).text, /image: nginx:1\n/);
  equal((await tab.run("kubectl scale deploy web --replicas=3")).text, "deployment.apps/web scaled");
  equal((await tab.run("kubectl expose deployment web --port=80")).text, "service/web exposed");
  equal((await tab.run("kubectl label deployment web tier=front")).text, "deployment.apps/web labeled");
  match(
    (await tab.run("kubectl label deployment web tier=back")).text,
    /^error: 'tier' already has a value \(front\), and --overwrite is false$/,
  );
  equal((await tab.run("kubectl wait deployment web --for=condition=Available")).text, "deployment.apps/web condition met");
  equal((await tab.run("kubectl delete deployment web")).text, 'deployment.apps "web" deleted from default namespace');
});

test("a watch in the background prints changes until it is ended; redirected output becomes a file", async () => {
  await using tab = await startTabPrompt();
  await tab.run("kubectl get configmaps -w --output-watch-events &");
  await tab.run("kubectl create configmap a --from-literal=n=1");
  await tab.run("kubectl delete configmap a");
  await tab.cluster.driver.advance(1_000);
  ok(tab.printed.some((line) => /^ADDED +a +1 /.test(line)));
  ok(tab.printed.some((line) => /^DELETED +a +1 /.test(line)));

  await tab.run("kill");
  await tab.cluster.driver.advance(1_000);
  equal(tab.prompt.backgroundCount, 0);
  await tab.run("kubectl get nodes -o name > nodes.txt");
  equal((await tab.run("cat nodes.txt")).text, "node/node-0\nnode/node-1\nnode/node-2");
});

test("why explains a Pod that fits nowhere, with a remedy that was tried on a copy in the same process", async () => {
  await using tab = await startTabPrompt();
  await tab.run(`kubectl create deployment big --image=nginx
kubectl patch deployment big -p '{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}'`);
  await tab.cluster.driver.advance(5_000);
  const pods = (await tab.run("kubectl get pods -o name --field-selector=status.phase=Pending")).text;

  const { text } = await tab.run(`k8ts why ${pods}`, { passesTime: false });

  match(text, /disk/);
  match(text, /tried on a copy of the cluster: it works/);
  equal((await tab.run("k8ts why node/node-0")).text, "Nothing is wrong with node node-0 as far as it is known");
});

test("explain prints the documentation of a field, and help lists every command", async () => {
  await using tab = await startTabPrompt();
  match(
    (await tab.run("kubectl explain deployment.spec.replicas")).text,
    /^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: replicas <integer>\n\nDESCRIPTION:\n {4}Number of desired pods/,
  );
  match((await tab.run("help")).text, /kubectl rollout undo +Roll back/);
  match((await tab.run("kubectl scale --help")).text, /Usage: kubectl scale TYPE NAME --replicas=N$/);
});

test("drain evicts the Pods of a node, and refuses Pods without a controller unless forced", async () => {
  await using tab = await startTabPrompt();
  await tab.run("kubectl create deployment web --image=nginx --replicas=6\nkubectl rollout status deployment/web");
  const { text } = await tab.run("kubectl drain node-0");
  match(text, /^node\/node-0 cordoned\nevicting pod default\/web-[^]*evicted\nnode\/node-0 drained$/);
  const { text: left } = await tab.run("kubectl get pods -o wide");
  equal(left.includes(" node-0 "), false);
});
