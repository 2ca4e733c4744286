/** grpc-js loads this for channelz and ORCA services only, which nothing here serves. */
module.exports = {
  loadSync() {
    throw new Error('Services that are described by .proto files are not part of tidegate');
  },
};
