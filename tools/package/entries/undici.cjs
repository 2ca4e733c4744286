/** What the program uses of undici; its index loads caches, mocks, fetch and web sockets, too. */
const Agent = require('undici/lib/dispatcher/agent.js');
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
const ProxyAgent = require('undici/lib/dispatcher/proxy-agent.js');
const api = require('undici/lib/api/index.js');

// As its index does: `request` and `stream` are methods of every dispatcher.
Object.assign(Dispatcher.prototype, api);

module.exports = { Agent, ProxyAgent };
