import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsFile, hostsFileOfNode } from "./hosts-file.ts";

const aliases = [
  { ip: "123.45.67.89", hostnames: ["foo", "bar"] },
  { ip: "fd00::2", hostnames: ["six"] },
];

test("a Pod's hosts file begins with upstream's line and names the Pod", () => {
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

test("with a domain the whole name stands first, for every address, and aliases follow", () => {
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

test("in the node's own network it is the node's file, and says so", () => {
  assert.equal(
    hostsFileOfNode("127.0.0.1 localhost\n", aliases.slice(0, 1)),
    `# Kubernetes-managed hosts file (host network).
127.0.0.1 localhost

# Entries added by HostAliases.
123.45.67.89\tfoo\tbar
`,
  );
});
