"""HTTP behind the seam of ``send`` and ``stream``.

- ``http2``: one HTTP/2 connection: GOAWAY, RST_STREAM, SETTINGS, flow control, pings
- ``http2_stream``: one request and its answer on such a connection, and its limit on silence
- ``http2_pool``: the connection pool: which stream runs where, what is sent again
- ``http1``: HTTP/1.1 with aiohttp: proxies, plain HTTP, servers without HTTP/2
- ``header_blocks``: the heads of requests as HTTP/2 sends them
- ``cert_rotation``: replaces connections when certificates, keys or authorities have changed
- ``web_client``, ``retry_series``: requests to any other web server
- ``grpc_channel``: gRPC calls on such connections
"""
