/** Identity of a device, or of a share of one: matches allocations with the driver status of devices. */

/** Members of both allocation results and driver status. */
export interface SharedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

export function sharedDeviceKey(device: SharedDevice): string {
  return JSON.stringify(sharedDeviceForm(device));
}

/** In the format of messages. */
export function sharedDeviceForm({ driver, pool, device, shareID = "" }: SharedDevice): Readonly<Record<string, string>> {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID };
}
