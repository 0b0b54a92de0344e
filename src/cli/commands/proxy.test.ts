import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { proxy } from "./proxy.ts";

function problemsOf(...argv: readonly string[]): readonly string[] {
  const parsed = proxy.parse(argv, {});
  return parsed.ok ? [] : parsed.problems;
}

test("k8ts proxy accepts upstream's flags", () => {
  const modes = ["iptables", "nftables", "ipvs", "userspace"];
  for (const mode of modes) deepEqual(problemsOf("--proxy-mode", mode), []);
  deepEqual(
    problemsOf(
      ...["--kubeconfig=a.conf", "--hostname-override=n1", "--cluster-cidr=10.244.0.0/16", "--masquerade-all", "--ipvs-scheduler=lc"],
      ...["--nodeport-addresses=primary,192.0.2.0/24", "--healthz-bind-address=none", "--metrics-bind-address=127.0.0.1:10249"],
    ),
    [],
  );
});

for (const { flag, expected } of [
  { flag: "--proxy-mode=magic", expected: /--proxy-mode.*iptables, nftables, ipvs.*userspace/ },
  { flag: "--nodeport-addresses=192.0.2.1", expected: /--nodeport-addresses.*"primary"/ },
  { flag: "--cluster-cidr=10.244.0.0", expected: /--cluster-cidr.*10\.244\.0\.0\/16/ },
  { flag: "--owner=Cluster-1", expected: /--owner.*lower-case letters and digits/ },
  { flag: "--metrics-bind-address=nowhere", expected: /--metrics-bind-address.*127\.0\.0\.1:10249/ },
]) {
  test(`k8ts proxy refuses ${flag} and names what is expected`, () => match(problemsOf(flag).join("\n"), expected));
}
