import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsFile, hostsFileOfNode } from "./hosts-file.ts";

const aliases = [
  { ip: "123.45.67.89", hostnames: ["foo", "bar"] },
  { ip: "fd00::2", hostnames: ["six"] },
];

test("a Pod's hosts file begins with upstream's header and has the Pod's name", () => {
  assert.equal(
    hostsFile({ podIps: ["10.1.0.5"], hostname: "web-0", domain: "", aliases: [] }),
    `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
10.1.0.5\tweb-0
`,
  );
});

test("with a subdomain the FQDN comes first, for every Pod IP, followed by the aliases", () => {
  const text = hostsFile({ podIps: ["10.1.0.5", "fd00::5"], hostname: "web-0", domain: "web.shop.svc.cluster.local", aliases });
  assert.equal(
    text.slice(text.indexOf("10.1.0.5")),
    `10.1.0.5\tweb-0.web.shop.svc.cluster.local\tweb-0
fd00::5\tweb-0.web.shop.svc.cluster.local\tweb-0

# Entries added by HostAliases.
123.45.67.89\tfoo\tbar
fd00::2\tsix
`,
  );
});

test("with hostNetwork the hosts file is the node's, with the host network header", () => {
  assert.equal(
    hostsFileOfNode("127.0.0.1 localhost\n", aliases.slice(0, 1)),
    `# Kubernetes-managed hosts file (host network).
127.0.0.1 localhost

# Entries added by HostAliases.
123.45.67.89\tfoo\tbar
`,
  );
});
