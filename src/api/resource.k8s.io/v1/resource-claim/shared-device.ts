/** Which device it is, or which share of one: how allocations and what drivers report about devices are matched. */

/** Both what is allocated and what is reported has these. */
export interface SharedDevice {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string;
}

export function sharedDeviceKey(device: SharedDevice): string {
  return JSON.stringify(sharedDeviceForm(device));
}

/** As messages show it. */
export function sharedDeviceForm({ driver, pool, device, shareID = "" }: SharedDevice): Readonly<Record<string, string>> {
  return { Driver: driver, Pool: pool, Device: device, ShareID: shareID };
}
