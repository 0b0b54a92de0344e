import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { clusterFlags } from "../../../config/cluster-flags.ts";
import { serverArguments } from "./server-arguments.ts";

/** Those of controller-runtime 0.24, in its order. */
const OF_ENVTEST = [
  "--allow-privileged=true",
  "--authorization-mode=RBAC",
  "--bind-address=127.0.0.1",
  "--cert-dir=/tmp/k8s_test_framework_1",
  "--client-ca-file=/tmp/k8s_test_framework_1/client-cert-auth-ca.crt",
  "--disable-admission-plugins=ServiceAccount",
  "--etcd-servers=http://127.0.0.1:40001",
  "--secure-port=40002",
  "--service-account-issuer=https://127.0.0.1:40002/",
  "--service-account-key-file=/tmp/k8s_test_framework_1/sa-signer.crt",
  "--service-account-signing-key-file=/tmp/k8s_test_framework_1/sa-signer.key",
  "--service-cluster-ip-range=10.0.0.0/24",
];

test("the arguments of envtest are flags of the API server, separate from its etcd and its certificates", () => {
  const { flags, ...others } = serverArguments(OF_ENVTEST, clusterFlags);

  deepEqual(others, {
    etcdFlags: [],
    etcdServers: ["http://127.0.0.1:40001"],
    certificateDirectory: "/tmp/k8s_test_framework_1",
    ignored: [],
  });
  const own = ["--allow-privileged=true", "--cert-dir=/tmp/k8s_test_framework_1", "--etcd-servers=http://127.0.0.1:40001"];
  deepEqual(
    flags,
    OF_ENVTEST.filter((flag) => !own.includes(flag)),
  );
});

for (const { title, argv, flags, ignored } of [
  { title: "a value in the next word", argv: ["--secure-port", "1", "-v", "4"], flags: ["--secure-port=1"], ignored: ["v"] },
  { title: "a switch without a value", argv: ["--anonymous-auth", "--v=4"], flags: ["--anonymous-auth"], ignored: ["v"] },
  {
    title: "flags without a meaning here",
    argv: ["--feature-gates=A=true,ClusterTrustBundle=true", "--runtime-config", "api/all=true", "--store=etcd"],
    flags: ["--feature-gates=ClusterTrustBundle=true"],
    ignored: ["feature-gates", "runtime-config", "store"],
  },
  { title: "a loopback address to advertise", argv: ["--advertise-address=127.0.0.1", "--insecure-port=0"], flags: [], ignored: [] },
]) {
  test(`${title} in the arguments of kube-apiserver`, () => {
    const read = serverArguments(argv, clusterFlags);

    deepEqual([read.flags, read.ignored], [flags, ignored]);
  });
}
