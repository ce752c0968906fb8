/** An agent that says its version and ends with a fault whenever it is asked for more: a release that should not have been. */
declare const QUARTERMASTER_AGENT_VERSION: string;

if (process.argv.at(-1) === 'version') console.log(QUARTERMASTER_AGENT_VERSION);
else throw new Error('this version was not tried');
