/**
 * At start: every address that a Service has gets its IPAddress if it has none (data of before, an object that somebody deleted), and an
 * IPAddress of a Service that has no such address goes (a crash between the two addresses of one Service).
 */
import { heldClusterIps } from "../../../api/core/v1/service/allocation.ts";
import type { Service } from "../../../api/generated/core/v1.ts";
import type { IPAddress } from "../../../api/generated/networking.k8s.io/v1.ts";
import type { ServerContext } from "../../server-context.ts";
import { canonicalAddress } from "./address-range.ts";
import { isOf, ServiceAddresses } from "./service-addresses.ts";

export async function repairServiceAddresses(server: ServerContext): Promise<void> {
  const services = server.endpoints.stored("", "services")?.storage;
  if (services === undefined) return;
  const addresses = new ServiceAddresses(server);
  await services.cache.load();
  // First what is made of Services, then the Services: whoever has an address is seen after it, never before.
  for (const stored of await addresses.made()) {
    const { name, namespace = "" } = (stored.object as unknown as IPAddress).spec.parentRef;
    const service = (await services.get({ namespace, name }))?.object as unknown as Service | undefined;
    if (service === undefined || !holds(service, stored.object as unknown as IPAddress)) {
      server.log.info(`IPAddress ${stored.object.metadata.name} goes: no Service ${namespace}/${name} has it`);
      for (const operation of addresses.giveBack(stored)) await addresses.commit(operation);
    }
  }
  for (const [, { object }] of services.cache.snapshot().entries()) await takeMissing(server, addresses, object as unknown as Service);
}

function holds(service: Service, address: IPAddress): boolean {
  return isOf(address, service) && heldClusterIps(service).some((held) => canonicalAddress(held) === address.metadata.name);
}

async function takeMissing({ log }: ServerContext, addresses: ServiceAddresses, service: Service): Promise<void> {
  const { name, namespace } = service.metadata;
  for (const address of heldClusterIps(service)) {
    const owner = await addresses.ownerOf(address);
    if (owner === undefined) await addresses.takeNow(address, service);
    else if (!isOf(owner, service)) {
      const remedy = "delete one of the two Services, and make it again";
      log.warn(`Service ${namespace}/${name} has the address ${address}, which is somebody else's: ${remedy}`);
    }
  }
}
