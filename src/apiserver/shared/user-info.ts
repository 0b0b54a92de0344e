/** A user in the form of reviews. */
import type { UserInfo } from "../../api/generated/authentication.k8s.io/v1.ts";
import type { User } from "../framework/request.ts";

export function userInfo({ name, uid = "", groups, extra = {} }: User): UserInfo {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
