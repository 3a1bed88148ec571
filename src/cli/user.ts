/** `tollgate users`: the people who sign in to the console. */
import { type Command, Option } from "commander";
import {
  IdentityServiceService as service,
  InstallationRole,
  type ListUsersResponse,
  MemberRole,
  type User,
} from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { readLimit } from "./arguments.js";
import { EnumWords } from "./enum-words.js";
import { connected, type Connection, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { formatTable, formatTime, moreOf, printable, remark } from "./print.js";

const ROLES = new EnumWords<MemberRole>(MemberRole, "MEMBER_ROLE_");
const INSTALLATION_ROLES = new EnumWords<InstallationRole>(InstallationRole, "INSTALLATION_ROLE_");

interface LinkOptions extends ConnectionOptions {
  readonly console: string;
}

interface PlaceOptions extends LinkOptions {
  readonly account?: string;
  readonly role: MemberRole;
  readonly installation?: InstallationRole;
}

const NO_ROLE = InstallationRole.INSTALLATION_ROLE_UNSPECIFIED;
const ONCE = "It works once, and cannot be shown again.";
const WHO = "the person's e-mail address or id, from: tollgate users list";

export function addUserCommands(program: Command): void {
  const users = program.command("users").alias("user").description("list, invite, create, reset, and remove people");
  withConnection(
    users
      .command("list")
      .description("list people")
      .option("--limit <rows>", "the maximum number of rows", readLimit, 100),
  ).action(list);
  placed(
    users
      .command("invite")
      .description("create an invitation link for one person and print it, once")
      .option("--email <address>", "the e-mail address of the person, as a note on the invitation")
      .addHelpText("after", "\nExample:\n  tollgate users invite --account acme --role admin"),
  ).action(invite);
  placed(
    users
      .command("create")
      .description("create a person and print, once, a link to set the password")
      .argument("<email>", "the person's e-mail address")
      .option("--name <name>", "the person's name")
      .addHelpText("after", "\nExample:\n  tollgate users create ada@example.com --installation operator"),
  ).action(create);
  linked(
    users
      .command("reset")
      .description("end the sessions of a person and print a link to set a new password")
      .argument("<person>", WHO)
      .option("--second-factor", "also remove all second factors, for example if the phone is lost"),
  ).action(reset);
  withConnection(
    users
      .command("remove")
      .description("remove a person from the installation and revoke the keys that the person created")
      .argument("<person>", WHO)
      .option("--keep-keys", "do not revoke the keys that the person created"),
  ).action(remove);
  withConnection(
    users.command("sign-out").description("end all sessions of a person, on every node").argument("<person>", WHO),
  ).action(signOut);
}

function linked(command: Command): Command {
  const option = new Option("--console <url>", "the public address of the gateway, for the link");
  return withConnection(command.addOption(option.env("TOLLGATE_PUBLIC_URL").default("http://127.0.0.1:8080")));
}

function placed(command: Command): Command {
  const role = new Option("--role <role>", `the role in the account: ${ROLES.words.join(", ")}`);
  const whole = new Option(
    "--installation <role>",
    `the role in the whole installation: ${INSTALLATION_ROLES.words.join(", ")}`,
  );
  return linked(
    command
      .option("--account <id>", "the account that the person joins")
      .addOption(role.argParser(ROLES.read).default(MemberRole.MEMBER_ROLE_MEMBER, "member"))
      .addOption(whole.argParser(INSTALLATION_ROLES.read)),
  );
}

async function list(options: ConnectionOptions & { limit: number }): Promise<void> {
  await connected(options, async (connection) => {
    const method = service.listUsers;
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { pageSize, pageToken });
      return { items: page.users, nextPageToken: page.nextPageToken };
    });
    connection.show(method, { users: items, nextPageToken }, formatUsers);
  });
}

async function invite(options: PlaceOptions & { email?: string }): Promise<void> {
  await connected(options, async (connection) => {
    const { account = "", role, installation = NO_ROLE, email = "" } = options;
    const params = { email, ttlSeconds: 0 };
    if (account === "") {
      const answer = await connection.call(service.inviteUser, {
        ...params,
        installationRole: installation,
      });
      connection.show(service.inviteUser, answer, ({ token }) => linkTo("invitation", token, options));
    } else {
      const answer = await connection.call(service.createInvitation, {
        ...params,
        accountId: account,
        role,
      });
      connection.show(service.createInvitation, answer, ({ token }) => linkTo("invitation", token, options));
    }
    if (!options.json) remark(`Anyone who opens this link within 7 days can join. ${ONCE}`);
  });
}

async function create(email: string, options: PlaceOptions & { name?: string }): Promise<void> {
  await connected(options, async (connection) => {
    const { account = "", role, installation = NO_ROLE, name = "" } = options;
    const method = service.createUser;
    const place = { accountId: account, role, installationRole: installation };
    const answer = await connection.call(method, { email, name, ...place });
    connection.show(method, answer, ({ token }) => linkTo("password", token, options));
    if (!options.json) remark(`Made ${answer.user?.id ?? ""}. Send this link to the person to set a password. ${ONCE}`);
  });
}

async function reset(person: string, options: LinkOptions & { secondFactor?: true }): Promise<void> {
  await connected(options, async (connection) => {
    const { id, email } = await found(connection, person);
    const method = service.resetUser;
    const answer = await connection.call(method, { id, secondFactor: options.secondFactor ?? false });
    connection.show(method, answer, ({ token }) => linkTo("password", token, options));
    const factor = options.secondFactor === true ? " and the second factor" : "";
    if (!options.json)
      remark(`Ended the sessions${factor} of ${printable(email)}. With this link a new password is set. ${ONCE}`);
  });
}

async function remove(person: string, options: ConnectionOptions & { readonly keepKeys?: true }): Promise<void> {
  await connected(options, async (connection) => {
    const { id, email } = await found(connection, person);
    const keepKeys = options.keepKeys === true;
    const answer = await connection.call(service.removeUser, { id, keepKeys });
    const told = keepKeys ? "live on" : "are revoked";
    connection.show(
      service.removeUser,
      answer,
      () => `Removed ${printable(email)}; keys that the person made ${told}.`,
    );
  });
}

async function signOut(person: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const { id, email } = await found(connection, person);
    const answer = await connection.call(service.endUserSessions, { id });
    connection.show(service.endUserSessions, answer, () => `Signed ${printable(email)} out everywhere.`);
  });
}

/** The person by id or address. Rejects with RESOURCE_UNKNOWN. */
async function found(connection: Connection, person: string): Promise<User> {
  const { users } = await connection.call(service.listUsers, { pageSize: 0, pageToken: "" });
  const user = users.find(({ id, email }) => id === person || email === person.trim().toLowerCase());
  if (user === undefined) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "user", id: person });
  return user;
}

/** The token stands behind the #, so that no server and no proxy logs it. */
function linkTo(page: string, token: string, { console: base }: LinkOptions): string {
  return `${base.replace(/\/+$/, "")}/console/${page}#${token}`;
}

function formatUsers(answer: ListUsersResponse): string {
  if (answer.users.length === 0) return "Nobody yet: the gateway printed a link for the first operator.";
  const columns = ["PERSON", "E-MAIL", "NAME", "INSTALLATION", "SECOND FACTOR", "SIGNED IN"];
  const rows = answer.users.map((user) => [
    user.id,
    user.email,
    user.name,
    INSTALLATION_ROLES.wordOf(user.installationRole) || "-",
    user.secondFactor ? "yes" : "no",
    user.signInTime === undefined ? "never" : formatTime(user.signInTime),
  ]);
  return formatTable(columns, rows) + moreOf(answer.nextPageToken);
}
