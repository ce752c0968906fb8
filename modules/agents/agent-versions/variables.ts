/** The deployment's variables of this module. */
import { join } from 'node:path';
import Joi from 'joi';
import { TRUST_LIST } from '#agent-protocol';
import { defineVariables, trustKeyOf, variable } from '#core';

const GITHUB_HOSTS = ['github.com', 'objects.githubusercontent.com', 'release-assets.githubusercontent.com'];
const repository = Joi.string()
  .pattern(/^[\w.-]{1,100}\/[\w.-]{1,100}$/)
  .messages({ 'string.pattern.base': 'must be owner/name' });
const hostname = Joi.string().hostname().messages({ 'string.hostname': 'must be a host name' });

export const variables = defineVariables(
  {
    BINARY_SOURCE: variable.oneOf(['github', 'local'], 'github'),
    AGENT_BINARY_DIR: variable.text(),
    AGENT_DOWNLOADS_MAX: variable.number(1, 100_000, 100),
    AGENT_RELEASE_REPO: variable.text(repository),
    AGENT_RELEASE_API_URL: variable.urlOr('https://api.github.com', 'https', 'http'),
    AGENT_RELEASE_ASSET_HOSTS: variable.list(hostname, GITHUB_HOSTS),
    AGENT_RELEASE_TOKEN: variable.text(),
    AGENT_TRUST_KEYS: variable.trustKeys(),
    AGENT_TRUST_LIST: variable.text(
      Joi.string().pattern(TRUST_LIST).messages({ 'string.pattern.base': 'must be what "sign-agent trust" printed' }),
    ),
    AGENT_AUTO_PROMOTE: variable.flag(true),
    AGENT_VERSION_SYNC: variable.flag(false),
  },
  {
    read: (v, { dataDir, objectStorage }) => ({
      binarySource: v.BINARY_SOURCE,
      /** Folder of releases for `local`: `<version>/<component>-<os>-<arch>`. */
      binaryDir: v.AGENT_BINARY_DIR ?? join(dataDir, 'agent-binaries'),
      /** Releases for `local` lie in the object storage instead, under `agents/<version>/`. */
      binariesInStorage: objectStorage !== undefined && v.AGENT_BINARY_DIR === undefined,
      /** Programs that one process sends at a time. */
      downloadsMax: v.AGENT_DOWNLOADS_MAX,
      /** Where `github` finds releases. */
      release: {
        /** `owner/name`. */
        repo: v.AGENT_RELEASE_REPO,
        /** Without a slash at the end. */
        apiUrl: v.AGENT_RELEASE_API_URL.replace(/\/+$/, ''),
        /** Hosts that assets may come from, redirects included. */
        assetHosts: v.AGENT_RELEASE_ASSET_HOSTS,
        token: v.AGENT_RELEASE_TOKEN,
      },
      /** Who may sign agents. */
      trustKeys: v.AGENT_TRUST_KEYS.map(trustKeyOf),
      /** By which enrolled agents come to trust other keys. */
      trustKeyList: v.AGENT_TRUST_LIST,
      autoPromote: v.AGENT_AUTO_PROMOTE,
      /** Looks for new versions every hour. */
      versionSync: v.AGENT_VERSION_SYNC,
    }),
  },
);
