/** The network components, in start order. One more is a file in this folder and a line here. */
import { dns } from "./dns.ts";
import { ingress } from "./ingress.ts";
import type { NetworkComponent } from "./network-component.ts";
import { networkPolicy } from "./network-policy.ts";
import { podNetwork } from "./pod-network.ts";
import { proxy } from "./proxy.ts";

export const networkComponents: readonly NetworkComponent[] = [podNetwork, networkPolicy, proxy, dns, ingress];
